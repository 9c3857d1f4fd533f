"""Search by example: items ranked by a class that a few of them define."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_count
from fewbits._typing import CodeArray, IdArray
from fewbits.classify import best_scores, learn_class
from fewbits.codes import n_bytes
from fewbits.collection._model import Model
from fewbits.collection._rows import Mask, Rows
from fewbits.errors import ArgumentError
from fewbits.index import Int8Vectors

#: Random items of a collection that stand for everything else.
N_RANDOM = 1000
#: Weight of the errors for one example.
COST = 100.0


def rank_by_examples(
    model: Model,
    rows: Rows,
    good: Any,
    bad: Any,
    k: int,
    *,
    good_ids: Any,
    bad_ids: Any,
    n_random: int,
    C: float,
    random_state: int,
    mask: Mask | None,
) -> tuple[NDArray[np.float32], IdArray]:
    """Return minus the margins and the rows of the items that fit a class best.

    Random items stand for everything else; that a few belong to the class does no harm.
    """
    check_count(random_state, "random_state", 0)
    check_count(n_random, "n_random", 0)
    members, others = (
        [] if isinstance(items, list | tuple) and not items else model.items(items)
        for items in (good, bad)  # an empty list is of any kind
    )
    _check_apart(members, others)
    codes_in, rows_in = _examples(model, rows, members, good_ids)
    codes_out, rows_out = _examples(model, rows, others, bad_ids)
    if both := sorted({*rows_in.tolist()} & {*rows_out.tolist()}):
        (item,) = rows.ids_at(np.array(both[:1]))
        raise ArgumentError(f"item {item} is given as a member and as none")
    unknown = np.ones(len(rows), np.bool_)
    unknown[rows.positions_of(np.concatenate([rows_in, rows_out]))] = False
    rng = np.random.default_rng(random_state)
    drawn = np.sort(rng.permutation(np.flatnonzero(unknown))[:n_random])
    positives = _distinct(codes_in, rows.codes_at(np.unique(rows_in)))
    negatives = _distinct(codes_out, rows.codes_at(np.unique(rows_out)))
    negatives = np.concatenate([negatives, rows.codes[drawn]])
    if not len(negatives):
        raise ArgumentError(
            "nothing to tell the class from: give bad examples, or a collection with "
            "other items"
        )
    svm = learn_class(
        positives,
        negatives,
        model.encoder.n_bits,
        C=C * len(positives) ** 0.5,
        balance=_balance(len(positives), len(negatives)),
        random_state=random_state,
    )
    margins = svm.scores(rows.codes)
    best = best_scores(margins, k, unknown if mask is None else unknown & mask)
    return -margins[best], rows.row_numbers[best]


def _balance(n_members: int, n_others: int) -> float:
    """Return how far examples and other items are balanced, see `learn_class`.

    The examples weigh as much as the square root of the number of the others, and each
    no less than one of these. So one that is a member counts little beside few
    examples, and many examples are learnt from as they are.
    """
    if n_others <= n_members or not n_members:  # of none `learn_class` says so
        return 1.0
    ratio = max(1.0, n_others**0.5 / n_members)
    return float(np.log(ratio) / np.log(n_others / n_members))


def _check_apart(members: Sequence[Any], others: Sequence[Any]) -> None:
    """Refuse an item, a vector or a text or a path, that is given on both sides."""

    def content(item: Any) -> Any:
        if isinstance(item, str | Path):
            return str(item)
        values = np.asarray(item)
        if values.dtype.kind not in "fiub":
            return values.tobytes()
        # Features are rounded to float32, so those that then are the same are one item.
        with np.errstate(over="ignore"):  # encoders refuse what is too large
            return (values.astype(np.float32) + 0).tobytes()  # -0.0 is 0.0

    contents = {content(item) for item in members} if len(others) else set()
    for item in others:
        if content(item) in contents:
            subject = f"{item!r} is" if isinstance(item, str) else "an item is"
            raise ArgumentError(f"{subject} given as a member and as none")


def _examples(
    model: Model, rows: Rows, items: Any, ids: Any
) -> tuple[CodeArray, IdArray]:
    """Return codes of items from outside, and rows of items of the collection."""
    stored = rows.rows_of(ids)
    if not len(items):
        return np.empty((0, n_bytes(model.encoder.n_bits)), np.uint8), stored
    codes = model.encoder.encode(model.features(items))
    return codes, np.concatenate([stored, _same_rows(model, rows, items, codes)])


def _distinct(outside: CodeArray, stored: CodeArray) -> CodeArray:
    """Return all codes; an item given twice, itself and by its id, counts once."""
    present = {code.tobytes() for code in stored}
    outside = np.unique(outside, axis=0)
    new = [code.tobytes() not in present for code in outside]
    return np.concatenate([outside[np.array(new, np.bool_)], stored])


def _same_rows(
    model: Model, rows: Rows, items: Sequence[Any], codes: CodeArray
) -> IdArray:
    """Return the rows whose items are the same as some from outside.

    Texts and paths are looked for in the column of the items; vectors among those that
    are kept, as they were before they were rounded. Without these there are none.
    """
    column = model.facts.item_column
    is_vectors = model.kind in ("vectors", "codes")
    if not (rows.vector_dtype if is_vectors else column in rows.columns):
        return np.empty(0, np.int64)
    # Other codes are of other items.
    near = np.isin(_first_bytes(rows.codes), _first_bytes(codes))
    candidates = rows.row_numbers[near]
    if not is_vectors:
        written = os.path.abspath if model.kind == "images" else str
        names = {written(item) for item in items if isinstance(item, str | Path)}
        values = rows.column(str(column), candidates)
        same = [written(value) in names for value in values]
    else:
        vectors = rows.vectors_at(candidates)
        if rows.vector_dtype == "int8":
            examples = Int8Vectors.from_vectors(np.asarray(items)).to_float()
        else:
            examples = np.asarray(items).astype(vectors.dtype)
        # Of zeros there are two, which differ in their bytes only: + 0 makes them one.
        contents = {(example + 0).tobytes() for example in examples}
        same = [(vector + 0).tobytes() in contents for vector in vectors]
    return candidates[np.array(same, np.bool_)]


def _first_bytes(codes: CodeArray) -> NDArray[np.uint64]:
    """Return the first 8 bytes of each code as a number."""
    first = np.zeros((len(codes), 8), np.uint8)
    first[:, : codes.shape[1]] = codes[:, :8]
    return first.view(np.uint64)[:, 0]
