"""Paths of classes in a known tree."""

from collections.abc import Mapping, Sequence

from fewbits.errors import ArgumentError


def paths_of(
    known: Mapping[str, Sequence[str]], names: Sequence[str]
) -> list[Sequence[str]]:
    """Return the groups above classes in a known tree that may have more.

    Parameters
    ----------
    known : mapping of str to sequence of str
        The groups above each class, from the root on.
    names : sequence of str
        Classes.

    Returns
    -------
    list of sequence of str
        As `tree_agreement` takes them.

    Raises
    ------
    ArgumentError
        When the tree lacks a class.

    Examples
    --------
    >>> paths_of({"lynx": ["cat"], "trout": ["fish"], "oak": []}, ["trout", "lynx"])
    [['fish'], ['cat']]
    """
    missing = [name for name in names if name not in known]
    if missing:
        raise ArgumentError(
            f"the tree lacks {len(missing)} of {len(names)} classes, such as "
            f"{missing[0]!r}"
        )
    return [known[name] for name in names]
