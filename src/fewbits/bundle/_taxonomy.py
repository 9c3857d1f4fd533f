"""Taxonomy of the classes of a bundle."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewbits.analysis.taxonomy import TaxonomyMetrics, paths_of
from fewbits.bundle._hand_files import read_by_hand
from fewbits.classify import Codebook
from fewbits.errors import ArgumentError
from fewbits.report import write_taxonomy_page

if TYPE_CHECKING:
    from fewbits.bundle._bundle import Bundle


def read_tree(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Return the groups above each class, from the root on.

    Parameters
    ----------
    path : str or Path
        JSON such as ``{"lynx": ["animal", "cat"], "trout": ["animal", "fish"]}``.

    Raises
    ------
    ArgumentError
        When the file holds anything else.
    """
    wanted = 'tree such as {"lynx": ["animal", "cat"], "oak": ["plant"]}'
    given = read_by_hand(path, wanted, lambda _, groups: _are_groups(groups))
    return {name: tuple(groups) for name, groups in given.items()}


def _are_groups(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def check_taxonomy(
    bundle: "Bundle", known: Mapping[str, Sequence[str]] | None = None
) -> None:
    """Refuse a bundle or a tree that `write_taxonomy` makes no page of.

    Raises
    ------
    ArgumentError
        When the bundle has no codebook, or the tree lacks a class.
    """
    if bundle.codebook is None:
        raise ArgumentError(
            "this bundle has no class codes, which --taxonomy relates: learn them "
            "from labels by 'fewbits fit --method llc' or another deep method"
        )
    if known is not None:
        paths_of(known, _class_names(bundle.codebook))


def write_taxonomy(
    bundle: "Bundle",
    path: str | Path,
    known: Mapping[str, Sequence[str]] | None = None,
) -> TaxonomyMetrics:
    """Write a page about the class codes and the tree that they form.

    Parameters
    ----------
    bundle : Bundle
    path : str or Path
        Replaced when it exists; left as it is when anything goes wrong.
    known : mapping of str to sequence of str, default=None
        The groups above each class in a tree to compare with, from the root on; other
        classes in it do not matter.

    Returns
    -------
    fewbits.analysis.taxonomy.TaxonomyMetrics

    Raises
    ------
    ArgumentError
        When the bundle has no codebook, or the tree lacks a class.
    """
    check_taxonomy(bundle, known)
    book = bundle.codebook
    assert book is not None
    names = _class_names(book)
    paths = None if known is None else paths_of(known, names)
    return write_taxonomy_page(path, book.codes, book.n_bits, names, paths=paths)


def _class_names(book: Codebook) -> list[str]:
    return [str(name) for name in book.names]
