"""Given class codes that replace those a method would learn."""

from pathlib import Path
from typing import Any

import numpy as np

from fewbits.analysis.taxonomy import paths_of
from fewbits.bundle import Bundle, read_tree
from fewbits.classify import Codebook
from fewbits.codes import pack
from fewbits.errors import ArgumentError
from fewbits.inputs import Input
from fewbits.learners.fitting import indicator
from fewbits.training._alarms import check_labelled

#: The method that takes one.
TAKES_CODEBOOK = "llc"


def given_codebook(
    path: str | Path,
    source: Input,
    method: str = TAKES_CODEBOOK,
    *,
    n_bits: int | None = None,
    random_state: int | None = 0,
) -> Codebook:
    """Return codes for the classes of labels, by their names.

    The parameter `codebook` of LLC, for `fit_bundle`.

    Parameters
    ----------
    path : str or Path
        The folder of a bundle that has class codes; or a .json file with a tree,
        for `fewbits.bundle.read_tree`, from which codes are made that are near
        each other where the paths of their classes are alike.
    source : Input
        Training items with labels.
    method : str, default="llc"
        Learning method; no other takes a codebook.
    n_bits : int, default=None
        Length of the codes; None takes that of the bundle, or for a tree
        ``2 ceil(log2(n_classes))``.
    random_state : int or None, default=0
        Seed of codes made from a tree.

    Returns
    -------
    Codebook

    Raises
    ------
    ArgumentError
        When the method takes no codebook, there are no labels, the bundle has no class
        codes, their length differs from `n_bits`, or a class is missing.
    """
    if method != TAKES_CODEBOOK:
        raise ArgumentError(f"a codebook is for {TAKES_CODEBOOK}, not for {method}")
    check_labelled(source, method)
    classes = indicator(source.labels, source.values, method)[0]
    if Path(path).suffix == ".json":
        return _of_tree(path, classes, n_bits, random_state)
    book = Bundle.load(path, items=False).codebook
    if book is None:
        raise ArgumentError(f"{path} is a bundle without class codes")
    if n_bits not in (None, book.n_bits):
        raise ArgumentError(
            f"the codes of {path} have {book.n_bits} bits, not {n_bits}"
        )
    book = _named_alike(book, classes)
    known = set(book.names.tolist())
    missing = [name for name in classes.tolist() if name not in known]
    if missing:
        raise ArgumentError(
            f"{path} has no codes for {len(missing)} of {len(classes)} classes, such "
            f"as {missing[0]!r}"
        )
    return book


def _named_alike(book: Codebook, classes: Any) -> Codebook:
    """Return a codebook whose names have the type of the classes: text or integers.

    Labels of one column are read as text, and the columns of a matrix are numbers.
    """
    names = book.names.tolist()
    kinds = {type(name) for name in classes.tolist()}
    if kinds == {str}:
        names = [str(name) for name in names]
    elif kinds == {int} and all(map(_is_whole, names)):
        names = [int(name) for name in names]
    if len(set(names)) < len(book):  # "1" and "01"
        return book
    return Codebook(book.codes, book.n_bits, names)


def _is_whole(name: Any) -> bool:
    return type(name) is int or (isinstance(name, str) and name.isdecimal())


def _of_tree(
    path: str | Path, classes: Any, n_bits: int | None, random_state: int | None
) -> Codebook:
    """Return codes that are near each other for classes that share groups."""
    from fewbits.learners.deep.centres import hierarchy_vectors, semantic_centres

    names = [str(name) for name in classes.tolist()]
    groups = paths_of(read_tree(path), names)
    vectors = hierarchy_vectors(
        [(*above, name) for above, name in zip(groups, names, strict=True)]
    )
    if n_bits is None:
        n_bits = 2 * max(1, (len(names) - 1).bit_length())  # as LLC has it
    centres = semantic_centres(vectors, n_bits, random_state=random_state)
    return Codebook(pack(np.asarray(centres) > 0), n_bits, classes)
