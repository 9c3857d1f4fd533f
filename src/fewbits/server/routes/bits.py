"""Bits of the collection: their use, what their sides mean, and their names."""

import json
import unicodedata
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request
from numpy.typing import NDArray

from fewbits._checks import check_bit
from fewbits._files import atomic_write
from fewbits._typing import CodeArray, IdArray
from fewbits.codes import hamming_distances, pack, unpack
from fewbits.collection import Collection
from fewbits.errors import ArgumentError, FewbitsError
from fewbits.inputs.by_hand import read_names
from fewbits.server._bodies import NamesBody
from fewbits.server._errors import ApiError
from fewbits.server._items import affordable, check_filled, records, sampled
from fewbits.server._reading import read_body
from fewbits.server._replies import Json
from fewbits.server._routing import body_schema
from fewbits.server._service import Current, View

if TYPE_CHECKING:  # what bits are compared by, which the start does without
    from fewbits.analysis.bits import Extremes
    from fewbits.analysis.names import Word

router = APIRouter()
#: Names of the values 0 and 1 of a bit; None where a side has none.
Sides = tuple[str | None, str | None]


@router.get("/v1/bits")
async def bits(view: Current, proposals: bool = True) -> Json:
    """List the bits with their use and their names."""
    use, names, entries = await _use(view, proposals), await _names(view), []
    for entry in use["bits"]:
        entry = {name: value for name, value in entry.items() if name != "words"}
        entry["names"] = list(names.get(entry["bit"], (None, None)))
        entries.append(entry)
    return Json({**use, "bits": entries})


@router.get("/v1/bits/{bit}")
async def bit(
    bit: int,
    view: Current,
    k: Annotated[int, Query(ge=1, le=100)] = 8,
    label: str | None = None,
) -> Json:
    """Show what one bit means: extreme items of both sides, words, and classes."""
    collection = view.collection
    check_bit(bit, collection.encoder.n_bits)

    def look() -> "tuple[str, int, Extremes | None]":
        from fewbits.collection.pages import bit_scores

        check_filled(collection)
        has_vectors = collection.vector_dtype is not None
        by = "vectors" if has_vectors or collection.kind == "codes" else collection.kind
        try:
            scores = bit_scores(collection, sampled(len(collection), _SCORED[by]))
        except FewbitsError:  # nothing to score, or not with what is installed here
            return "codes", min(len(collection), _CODES), None
        return by, len(scores.positions), scores.extremes(_MOST_EXAMPLES)

    # What tells which items show bits best, of how many, and these, of all bits.
    by, n_items, extremes = await view.cached("examples", look, lane="heavy")
    meaning = await view.run(
        _meaning, collection, bit, extremes, k, label, lane="heavy"
    )
    use = (await _use(view, True))["bits"][bit]
    names = list((await _names(view)).get(bit, (None, None)))
    return Json({**use, "names": names, "by": by, "n_items": n_items, **meaning})


@router.put("/v1/bits/{bit}", openapi_extra=body_schema(NamesBody))
async def name_bit(bit: int, view: Current, request: Request) -> Json:
    """Name the values 0 and 1 of a bit, in a file in the folder of the collection."""
    body = await read_body(request, NamesBody)
    view.check_writable()
    if view.folder is None:
        raise ApiError("in_memory", "a collection in memory keeps no names")
    check_bit(bit, view.collection.encoder.n_bits)
    path = _path(view.folder, view.collection)
    sides = _checked(body.zeros, "zeros"), _checked(body.ones, "ones")

    def save() -> None:
        names = {**_names_in(path, view.collection), bit: sides}
        if sides == (None, None):
            del names[bit]
        content = {str(bit): names[bit] for bit in sorted(names)}
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        with atomic_write(path) as file:
            file.write(text.encode())

    await view.run(save, lane="changes")  # one at a time
    return Json({"bit": bit, "names": list(sides)})


async def _use(view: View, proposals: bool) -> dict[str, Any]:
    work = partial(_use_of_bits, view.collection, proposals)
    return await view.cached(("bits", proposals), work, lane="heavy")


async def _names(view: View) -> dict[int, Sides]:
    if view.folder is None:
        return {}
    path = _path(view.folder, view.collection)
    return await view.run(_names_in, path, view.collection)


# Use.

_USUAL = 512  # bits; of longer codes, fewer are looked at
_COMPARED = 10_000  # codes that bits are compared on
_FEWEST = 500  # codes that tell which bits are alike
_READ = 50_000  # texts that names are proposed from
_WORDS = 6  # of a side, as evidence
_IN_NAME = 3
_TIMES = 3  # as often on its side a word of a name is as on the other
_LEAST = 0.25  # of the items of a side, together, that the words of its name are of


def _use_of_bits(collection: Collection, proposals: bool) -> dict[str, Any]:
    """Return how bits are used, and which correlate by more than .5 (``same_as``).

    Shares are of all items; bits are compared on ``n_compared`` of them, none where
    codes are too long for that, and names proposed from ``n_read`` texts, which takes
    most of the time. ``n_groups`` bits say different things.
    """
    from fewbits.analysis.bits import count_ones, distinct_bits

    check_filled(collection)
    codes, n_bits = collection.codes, collection.encoder.n_bits
    n_compared = affordable(_COMPARED, n_bits, _USUAL, 2)
    alike: dict[int, list[int]] = {}
    if n_compared < min(_FEWEST, len(codes)) and n_bits > _USUAL:
        n_compared = 0
    else:
        sample = codes[sampled(len(codes), n_compared)]
        n_compared = len(sample)
        for bit, others in distinct_bits(sample, n_bits, n_shown=n_bits).items():
            group = sorted((bit, *others))
            alike |= {bit: [x for x in group if x != bit] for bit in group}
    n_read, names = 0, {}
    positions = sampled(len(codes), affordable(_READ, n_bits, _USUAL, 1))
    texts = _words(collection, positions) if proposals else None
    if texts is not None:
        from fewbits.analysis.names import propose_names

        n_read = len(positions)
        names = propose_names(
            texts,
            np.ascontiguousarray(codes[positions]),
            n_bits,
            n_words=_WORDS,
            # Of many classes, each is a small share of a side that it yet belongs to.
            min_share=0.1 if collection.kind == "texts" else 0.0,
        ).bits
    bits = []
    for bit, share in enumerate((count_ones(codes, n_bits) / len(codes)).tolist()):
        sides = names.get(bit)
        entry = {
            "bit": bit,
            "share": share,
            "dead": share in (0.0, 1.0),
            "same_as": alike.get(bit, []),
            "proposed": None if sides is None else [_name(side) for side in sides],
            "words": [[word._asdict() for word in side] for side in sides or ()],
        }
        bits.append(entry)
    varying = [entry for entry in bits if not entry["dead"]]
    return {
        "n_items": len(codes),
        "n_compared": n_compared,
        "n_read": n_read,
        "n_groups": len({min((entry["bit"], *entry["same_as"])) for entry in varying}),
        "bits": bits,
    }


def _words(
    collection: Collection, positions: IdArray
) -> Sequence[str | list[str]] | None:
    """Return the texts of items, or their labels; None where there are neither.

    A label is one word, however many it is written with.
    """
    if collection.kind == "texts" and collection.item_column is not None:
        texts = collection.column(collection.item_column, positions)
        return ["" if text is None else str(text) for text in texts]
    if collection.label_column is None:
        return None
    rows = []
    for label in collection.column(collection.label_column, positions):
        is_list = isinstance(label, list | tuple | np.ndarray)
        labels = label if is_list else [] if label is None else [label]
        rows.append([str(x) for x in labels])
    return rows


def _name(words: "Sequence[Word]") -> str:
    """Return a name of a side; empty where its words do not say what the side is.

    A word may be significant of a side, and yet be met on few of its items or on nearly
    as many of the other's.
    """
    distinctive_words = [
        word for word in words if word.share >= _TIMES * word.other_share
    ]
    best = distinctive_words[:_IN_NAME]
    if sum(word.share for word in best) < _LEAST:
        return ""
    return ", ".join(word.word for word in best)


# Meaning.

#: Items whose scores are compared: kept vectors are cheap, a backbone is not.
_SCORED = {"vectors": 50_000, "texts": 10_000, "images": 500}
_CODES = 50_000  # looked at where there are no scores
_MOST_EXAMPLES = 100
_CLASSES = 8  # at each end


def _meaning(
    collection: Collection,
    bit: int,
    extremes: "Extremes | None",
    k: int,
    label: str | None,
) -> dict[str, Any]:
    """Return `k` examples of each side, and the ends of the classes of a column.

    Examples have a ``score``, or where no item is extreme the ``distance`` of their
    code from the majority of its side. Classes are in the order of their share of ones.
    """
    sides, classes, n_classes = [], None, 0
    for value in (0, 1):
        if extremes is None:
            name = "distance"
            positions, numbers = _typical(collection, bit, value, k)
        else:
            name, side = "score", extremes[value]
            positions, scores = side.rows[bit], side.scores[bit]
            # An item of the other side may be extreme where this one has few.
            codes = collection.codes[np.maximum(positions, 0)]
            on_side = (positions >= 0) & (_values(codes, bit) == value)
            positions, numbers = positions[on_side][:k], scores[on_side][:k]
        items = records(collection, positions)
        for item, number in zip(items, numbers.tolist(), strict=True):
            item[name] = number
        sides.append(items)
    if label is not None:
        classes = _classes(collection, bit, label)
        n_classes = len(classes)
        if n_classes > 2 * _CLASSES:
            classes = classes[:_CLASSES] + classes[-_CLASSES:]
    return {
        "zeros": sides[0],
        "ones": sides[1],
        "classes": classes,
        "n_classes": n_classes,
    }


def _typical(
    collection: Collection, bit: int, value: int, k: int
) -> tuple[IdArray, NDArray[Any]]:
    """Return the items nearest to the majority of the codes of a side."""
    positions = sampled(len(collection), _CODES)
    codes = collection.codes[positions]
    on_side = _values(codes, bit) == value
    if not on_side.any():
        return positions[:0], positions[:0]
    positions, codes = positions[on_side], np.ascontiguousarray(codes[on_side])
    bits = unpack(codes, collection.encoder.n_bits)
    majority = bits.mean(axis=0, keepdims=True) >= 0.5
    distances = hamming_distances(pack(majority), codes)[0]
    best = np.argsort(distances, kind="stable")[:k]
    return positions[best], distances[best]


def _values(codes: CodeArray, bit: int) -> NDArray[np.uint8]:
    """Return the values of one bit, without unpacking the others."""
    shift, one = np.uint8(7 - bit % 8), np.uint8(1)
    values: NDArray[np.uint8] = codes[:, bit // 8] >> shift & one
    return values


def _classes(collection: Collection, bit: int, label: str) -> list[dict[str, Any]]:
    positions = sampled(len(collection), _CODES)
    column = collection.column(label, positions)
    names = np.array(["" if name is None else str(name) for name in column])
    values = _values(collection.codes[positions], bit)
    classes, numbers = np.unique(names, return_inverse=True)
    counts = np.bincount(numbers)
    shares = np.bincount(numbers, values) / counts
    order = np.lexsort((classes, -counts, shares))
    return [
        {"class": str(classes[i]), "n": int(counts[i]), "share": float(shares[i])}
        for i in order
    ]


# Names, in a file in the folder of the collection.

_LONGEST_NAME = 200


def _path(folder: Path, collection: Collection) -> Path:
    """Return the file of the names: the bits of another encoder mean other things."""
    return folder / f"bit-names-{collection.encoder.fingerprint[:12]}.json"


def _names_in(path: Path, collection: Collection) -> dict[int, Sides]:
    named = read_names(path) if path.is_file() else {}
    n_bits = collection.encoder.n_bits
    return {bit: sides for bit, sides in named.items() if bit < n_bits}


def _checked(name: str | None, side: str) -> str | None:
    name = (name or "").strip()
    if len(name) > _LONGEST_NAME:
        raise ArgumentError(
            f"the name of the {side} has {len(name)} characters; at most "
            f"{_LONGEST_NAME}"
        )
    # Cs: half of a pair of UTF-16, which no file of UTF-8 can hold.
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name):
        raise ArgumentError(f"the name of the {side} has control characters")
    return name or None
