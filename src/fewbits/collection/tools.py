"""What commands, the server and the explorer ask of a collection beside its methods."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits import inputs
from fewbits._checks import check_choice
from fewbits._ids import check_known, id_column
from fewbits._typing import IdArray
from fewbits.collection._folder import check_target, unused_files
from fewbits.collection._model import Facts, Progress
from fewbits.collection._rows import INDEXES, Mask
from fewbits.collection._table import FORMS, fixed_binary
from fewbits.collection.collection import Collection
from fewbits.errors import ArgumentError
from fewbits.inputs import Input
from fewbits.store import CODE, ID

__all__ = [
    "add_missing",
    "check_same_codes",
    "check_target",
    "disk_bytes",
    "file_names",
    "mask",
    "parse_id",
    "positions_of",
    "read_items",
    "read_queries",
    "take",
    "unused_files",
    "value_numbers",
    "vectors_at",
    "warm",
    "with_facts",
]

# Items that are added, and their ids.


def read_items(
    collection: Collection, data: Any, *, types: Any = None, **options: Any
) -> Input:
    """Return items as `Collection.add` reads them, which takes this, too.

    `types` are those of first rows, as in `Collection.create`. Raises ArgumentError
    when items cannot be read, or are not of the kind that the collection takes.
    """
    return collection._read(data, types, **options)


def read_queries(
    collection: Collection,
    path: str,
    column: Any = None,
    *,
    codes: str | None = None,
    columns: Any = (),
    **options: Any,
) -> Input:
    """Return items of a file, of the kind that the collection takes, to ask about them.

    Options are those of `fewbits.inputs.read`. Without a `column`, a table gives those
    that the collection was learnt from; without `columns`, no others. Raises
    ArgumentError when items cannot be read, or are of another kind.
    """
    model = collection._version.model
    named: dict[str, Any] = {"column": column, "codes": codes}
    if column and model.kind in ("images", "codes"):
        named = {model.kind: column[0]}
    items = inputs.read(
        path,
        **named,
        **options,
        columns=columns,
        names=model.column_names,
        kind=model.kind,
    )
    return model.checked(items, codes=codes is not None)


def add_missing(
    collection: Collection,
    items: Input,
    *,
    keep_vectors: str | None = None,
    index: str | None = None,
    timeout: float | None = None,
    progress: Progress | None = None,
) -> int:
    """Add the items of `read_items` whose ids are not there yet; return how many.

    Without ids, all are added. `keep_vectors` and `index` are as in
    `Collection.create`, where these are the first rows; else what it has already.
    """
    check_choice(index or "auto", "index", INDEXES)
    check_choice(keep_vectors or "float32", "keep_vectors", FORMS)
    options = {"keep_vectors": keep_vectors, "index": index}
    chosen = {name: value for name, value in options.items() if value is not None}
    return collection._append(items, "add_missing", timeout, progress, chosen)


def parse_id(collection: Collection, text: str) -> Any:
    """Return an id that was written as text, as the collection has it."""
    if collection.has_text_ids:
        return text
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 20):
        raise ArgumentError(f"ids of this collection are integers, got {text!r}")
    return int(text)


# The encoder, the index and the files.


def with_facts(collection: Collection, **facts: Any) -> Collection:
    """Return this version with further facts, which `summary` tells, to be saved.

    With rows it can only be read.
    """
    version = collection._version
    values = {**version.model.facts.to_dict(), **facts}
    model = replace(version.model, facts=Facts.of(values))
    frozen = version.rows is not None
    return Collection(replace(version, model=model), None, frozen=frozen)


def check_same_codes(first: Collection, second: Collection) -> None:
    """Refuse two collections whose codes do not mean the same.

    So texts find images, or the other way round, where both were learnt by LLC with one
    codebook: ``images.search(codes=texts.encode(["a red flower"]))``.

    Raises ArgumentError where lengths differ, no class is in both codebooks, or one has
    two codes.
    """
    if first.encoder.fingerprint == second.encoder.fingerprint:
        return
    ours, theirs = first.codebook, second.codebook
    if ours is None or theirs is None:
        raise ArgumentError(
            "collections of two encoders have the same codes only where both have "
            "learnt those of the same classes: 'fewbits fit --learner llc --codebook "
            "COLLECTION'"
        )
    if ours.n_bits != theirs.n_bits:
        raise ArgumentError(
            f"one collection has codes of {ours.n_bits} bits, the other of "
            f"{theirs.n_bits}"
        )
    codes = dict(zip(theirs.names.tolist(), theirs.codes, strict=True))
    shared = [
        (name, (code == codes[name]).all())
        for name, code in zip(ours.names.tolist(), ours.codes, strict=True)
        if name in codes
    ]
    if not shared:
        raise ArgumentError("the two collections have learnt codes of other classes")
    for name, is_same in shared:
        if not is_same:
            raise ArgumentError(
                f"class {name!r} has another code in each collection: learn one of "
                "them with the codes of the other, 'fewbits fit --codebook COLLECTION'"
            )


def warm(collection: Collection) -> None:
    """Make the index, which the first search would make."""
    version = collection._version
    if version.rows is not None:
        version.rows.index(version.model.facts.index or "auto")


def file_names(collection: Collection) -> set[str]:
    """Return the names of the files that this version needs; none in memory."""
    rows, folder = collection._version.rows, collection.path
    if folder is None:
        return set()
    names = set() if rows is None else set(rows.snapshot.manifest.names())
    return names | {path.name for path in folder.glob("*-*.*")}


def disk_bytes(collection: Collection, kind: str | None = None) -> int:
    """Return the bytes that the rows take on the disk; 0 in memory.

    All of them, or those of one kind, see `fewbits.store.Store.bytes_by_kind`.
    """
    rows = collection._version.rows
    if rows is None or collection.path is None:
        return 0
    sizes = rows.store.bytes_by_kind()
    return sum(sizes.values()) if kind is None else sizes[kind]


# Items by their positions: their numbers in the order of the items, from 0 on.


def take(
    collection: Collection,
    positions: IdArray,
    columns: Any = None,
    *,
    codes: bool = False,
) -> Any:
    """Return the items at some positions, which may repeat, as an Arrow table.

    The ids, by `Collection.id_name`, with `codes` then these, as ``_code``, and the
    columns: all, or those of a list of names.
    """
    import pyarrow as pa

    version = collection._version
    rows = version.checked_rows()
    names = rows.column_names(columns, version.id_name)
    numbers = rows.row_numbers[np.asarray(positions, np.int64)]
    kind = rows.schema.field(ID).type
    table = {version.id_name: pa.array(rows.ids_at(numbers), kind)}
    if codes:
        table[CODE] = fixed_binary(rows.codes_at(numbers))
    user = rows.table_at(numbers, names)
    return pa.table({**table, **{name: user[name] for name in names}})


def positions_of(
    collection: Collection, ids: Any, *, missing_ok: bool = False
) -> IdArray:
    """Return the positions of items by their ids, without those that are not there.

    Raises ArgumentError where an id is not there, and they may not be missing.
    """
    rows = collection._version.checked_rows()
    column = id_column(ids, rows.has_text_ids)
    numbers = rows.find(column)
    if missing_ok:
        numbers = numbers[numbers >= 0]
    else:
        check_known(column, numbers >= 0)
    return rows.positions_of(numbers)


def mask(
    collection: Collection, filter: Any = None, allowed: Any = None
) -> Mask | None:
    """Return which items meet a filter and are allowed, as in `Collection.search`.

    A bool for each item in their order; None for all.
    """
    return collection._version.mask(filter, allowed)


def vectors_at(collection: Collection, positions: IdArray) -> NDArray[Any] | None:
    """Return the kept vectors at some positions as floats; None without any."""
    rows = collection._version.checked_rows()
    if rows.vector_dtype is None:
        return None
    return rows.vectors_at(rows.row_numbers[positions])


def value_numbers(
    collection: Collection, name: str, positions: IdArray
) -> NDArray[np.int32]:
    """Return the number of the value of a column at some positions; null has one, too.

    From 0 on by first appearance. Raises ArgumentError where there is no such column,
    or its values cannot be compared.
    """
    rows = collection._version.checked_rows()
    return rows.value_numbers(name, rows.row_numbers[positions])
