"""A collection that another process serves."""

from __future__ import annotations

import base64
import inspect
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import fields as fields_of
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import (
    as_frame,
    by_name,
    no_column,
    python_rows,
    python_values,
    rows_by_names,
    split_names,
)
from fewbits._checks import check_k
from fewbits._ids import new_ids
from fewbits._typing import CodeArray
from fewbits._warnings import warn_user
from fewbits.classify.decoders import DECODERS, Decoder, decoder_of
from fewbits.client._connection import Connection
from fewbits.client._items import (
    code_column,
    item_column,
    number_columns,
    parts,
    plain_ids,
    rows_table,
    sent_table,
    table_of,
    vector_column,
    written_columns,
)
from fewbits.client.wire import NO_IMAGES, write_stream
from fewbits.collection import (
    KINDS,
    Classification,
    Collection,
    DuplicateGroups,
    DuplicatePairs,
    Hits,
    RecallEstimate,
)
from fewbits.collection.hits import as_pandas
from fewbits.errors import ArgumentError
from fewbits.inputs import read_columns
from fewbits.store import CODE, ID, Report

P = ParamSpec("P")
T = TypeVar("T")
Arguments = dict[str, Any]
_ROWS = 10_000  # of the collection that are read at a time
_IN_TRANSACTIONS = "add", "upsert", "update", "delete", "drop_columns"
_OPEN = f"a transaction is open: it takes {', '.join(_IN_TRANSACTIONS)}"
#: What only a local collection can do, by what to do instead.
_INSTEAD = {
    "open its folder where it lies": "save backup path usage repair verify_folder "
    "repair_folder prefix reencode last_verified create vectors vector_dtype",
    "the encoder and its classes stay on the server, ask encode() and classify()": (
        "encoder codebook calibration rejection features from_learner from_parts"
    ),
    "name a version by tag(), and read it by at()": "frozen",
    "ask for those of some items: encode(ids=)": "codes",
    "ask for column()": "labels",
    "ask for to_arrow().schema": "schema",
    "fewbits.open() opens both": "open",
}


class _LocalError(ArgumentError, AttributeError):
    """A collection behind an address has no such method."""


def _like(
    method: Callable[Concatenate[Collection, P], Any],
) -> Callable[
    [Callable[[RemoteCollection, Arguments], T]],
    Callable[Concatenate[RemoteCollection, P], T],
]:
    """Give a method the signature of a local one; it gets its arguments by name."""
    signature = inspect.signature(method)

    def decorate(
        function: Callable[[RemoteCollection, Arguments], T],
    ) -> Callable[Concatenate[RemoteCollection, P], T]:
        @wraps(method)
        def remote(self: RemoteCollection, /, *args: P.args, **kwargs: P.kwargs) -> T:
            bound = signature.bind(self, *args, **kwargs)
            bound.apply_defaults()
            arguments = dict(bound.arguments)
            del arguments["self"]
            return function(self, arguments)

        return remote

    return decorate


def _fact(name: str, document: str) -> Any:
    return property(lambda self: self.facts[name], doc=document)


class RemoteCollection:
    """A collection behind an address; `fewbits.open` makes one.

    It has the methods of `fewbits.Collection`, with the same arguments, answers and
    errors, but for those that need the files: each says so in a line. Conditions are
    texts, `allowed` are ids, and images go without the paths by which `like` knows
    items. A call with many items is several requests, between which the collection may
    change; `progress` is called after each.

    Parameters
    ----------
    connection : Connection
    at : int or str, default=None
        A version to read, as in `at`; None for the newest, which can be changed.
    """

    def __init__(self, connection: Connection, at: int | str | None = None) -> None:
        self._connection, self._at = connection, at
        self._facts: dict[str, Any] = self._read_facts()
        if at is not None:  # whatever becomes of its name
            self._at = int(self._facts["collection_version"])
        self._of_thread = threading.local()  # changes of a transaction

    def __repr__(self) -> str:
        version = "" if self._at is None else f", version {self._at}"
        return f"RemoteCollection({self._connection.url!r}{version})"

    def __getattr__(self, name: str) -> Any:
        for instead, names in _INSTEAD.items():
            if name in names.split():
                line = f"a collection behind an address has no {name}: {instead}"
                raise _LocalError(line)
        raise AttributeError(f"RemoteCollection has no attribute {name!r}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, also of its earlier versions."""
        self._connection.close()

    # Facts.

    @property
    def facts(self) -> dict[str, Any]:
        """The answer to ``GET /v1/facts``, of the newest version or that of `at`."""
        if self._at is None and self._facts["snapshot"] != self._connection.snapshot:
            self.refresh()
        return self._facts

    def refresh(self) -> bool:
        """Ask for the facts anew; return whether the collection has changed."""
        before, self._facts = self._facts, self._read_facts()
        return self._at is None and bool(self._facts["snapshot"] != before["snapshot"])

    def _read_facts(self) -> dict[str, Any]:
        options = {} if self._at is None else {"at": self._at}
        return self._connection.get("/v1/facts", **options)

    def __len__(self) -> int:
        return int(self.facts["n_items"])

    kind = _fact("kind", 'What the items are: "texts", "images", "vectors" or "codes".')
    backbone = _fact(
        "backbone", "Id of the backbone that makes features of the items; or None."
    )
    item_column = _fact(
        "item_column", "The column with texts or paths of images; None of vectors."
    )
    label_column = _fact("label_column", "The column with labels, None without any.")
    id_name = _fact("id_name", "Name of the ids in `to_arrow`.")
    version = _fact("collection_version", "Number of the version that is read.")

    @property
    def has_text_ids(self) -> bool:
        """True if ids are texts, False if they are whole numbers."""
        return bool(self.facts["id_type"] == "string")

    @property
    def columns(self) -> list[str]:
        """Names of the columns, without the ids."""
        return [column["name"] for column in self.facts["columns"]]

    def summary(self) -> dict[str, Any]:
        """Return what there is to know in a few plain values."""
        summary: dict[str, Any] = self.facts["summary"]
        return summary

    # Search.

    @_like(Collection.search)
    def search(self, arguments: Arguments) -> Hits:
        kind, column = self._query(arguments)
        if (k := arguments["k"]) is not None:
            k = arguments["k"] = check_k(k)
        n_hits = k or (
            10 if arguments["radius"] is None else self.facts["limits"]["max_hits"]
        )
        fields = _fields(arguments)
        answers = [
            self._table("/v1/search", table, **fields)
            for table in self._tables(kind, column, n_hits)
        ]
        return _hits(answers, text_ids=self.has_text_ids)

    @_like(Collection.like)
    def like(self, arguments: Arguments) -> Hits:
        for name in ("good", "bad"):
            arguments[name] = self._examples(arguments[name])
        answer = self._table("/v1/like", **_fields(arguments))
        return _hits([answer], text_ids=self.has_text_ids)

    @_like(Collection.classify)
    def classify(self, arguments: Arguments) -> Classification:
        query, records, expected = self._query(arguments), [], None
        for table in self._tables(*query, 1):
            answer = self._post("/v1/classify", table, **_fields(arguments))
            records += answer["results"]
            expected = answer.get("expected")
        return Classification.of_records(records, expected)

    @_like(Collection.encode)
    def encode(self, arguments: Arguments) -> CodeArray:
        progress, query = arguments["progress"], self._query(arguments)
        pieces, done = [], 0
        for table in self._tables(*query, 1):
            column = self._table("/v1/encode", table)[0][CODE]
            codes = np.frombuffer(b"".join(column.to_pylist()), np.uint8)
            pieces.append(codes.reshape(-1, self.facts["bytes_per_code"]))
            done += len(table)
            if progress is not None:
                progress(done, len(query[1]))
        return np.concatenate(pieces)

    @_like(Collection.duplicates)
    def duplicates(self, arguments: Arguments) -> RemoteDuplicates:
        return RemoteDuplicates(self._table, _fields(arguments))

    @_like(Collection.recall)
    def recall(self, arguments: Arguments) -> tuple[RecallEstimate, ...]:
        progress = arguments.pop("progress")
        if arguments["queries"] is not None:
            arguments["queries"] = self._examples(arguments["queries"])
        if arguments["vectors"] is not None:
            arguments["vectors"] = vector_column(arguments["vectors"]).to_pylist()
        answer = self._post("/v1/recall", **_fields(arguments))
        if progress is not None:
            progress(len(self), len(self))
        return tuple(RecallEstimate(**estimate) for estimate in answer["estimates"])

    # Changes.

    @_like(Collection.add)
    def add(self, arguments: Arguments) -> int:
        return self._send_rows("add", **arguments)

    @_like(Collection.upsert)
    def upsert(self, arguments: Arguments) -> int:
        return self._send_rows("upsert", **arguments)

    @_like(Collection.update)
    def update(self, arguments: Arguments) -> int:
        data, ids = arguments.pop("data"), arguments.pop("ids")
        if isinstance(data, Mapping) and arguments["filter"] is not None:
            data = [data]  # a row of values
        by_names = rows_by_names(arguments["columns"] if data is None else data)
        columns = by_name(arguments["columns"])
        by_column = columns is not None and hasattr(columns, "keys")
        if data is None and ids is not None and by_column:
            if ID in columns or self.facts["id_column"] in columns:
                raise ArgumentError(
                    "ids stay: delete the items, and add them with other ids"
                )
            table = table_of({ID: plain_ids(ids), **columns})
            arguments |= {"id": ID, "columns": None}
        elif data is None or ids is not None or by_column:
            raise ArgumentError(
                "update takes a table, or ids= and a mapping of columns="
            )
        else:
            if isinstance(data, str | Path):
                texts = written_columns(self.facts, arguments["id"])
                data, by_names = read_columns(data, texts, number_columns(self.facts))
            table = sent_table(as_frame(data))
        fields = _fields(arguments)
        if len(by_names) < 2:
            return self._change("update", table, **fields)
        id = fields.get("id") or self.facts["id_column"] or "id"
        if id in table.column_names:
            new_ids(table[id])  # each comes once in all of the rows
        is_open, timeout = self._changes is not None, fields.pop("timeout", None)
        chosen = fields.pop("columns", table.column_names)
        chosen = split_names(chosen, table.column_names)
        with nullcontext() if is_open else self.transaction(timeout=timeout):
            for names, positions in by_names.items():
                # Unknown ones are refused there.
                some = [x for x in chosen if x in names or x not in table.column_names]
                held = [x for x in table.column_names if x == id or x in some]
                rows = table.select(held).take(positions)
                fields["columns"] = [x for x in some if x != id]
                self._change("update", rows, **fields)
        return 0 if is_open else len(table)

    @_like(Collection.delete)
    def delete(self, arguments: Arguments) -> int:
        if arguments["ids"] is None and arguments["filter"] is None:
            raise ArgumentError("delete needs ids or a filter")
        return self._change("delete", **_fields(arguments))

    @_like(Collection.drop_columns)
    def drop_columns(self, arguments: Arguments) -> None:
        self._change("drop_columns", **_fields(arguments))

    @contextmanager
    def transaction(self, *, timeout: float | None = None) -> Iterator[Self]:
        """Make the changes in a ``with`` block one commit: all of them, or none.

        They are sent when the block ends, in one request of at most what a server takes
        as JSON (8 MiB). Until then nothing has happened, and each returns 0.
        """
        if self._changes is not None:
            raise ArgumentError(_OPEN)
        changes: list[dict[str, Any]] = []
        self._of_thread.changes, self._of_thread.columns = changes, []
        try:
            yield self
        finally:
            self._of_thread.changes = None
        if changes:
            self._change("changes", changes=changes, timeout=timeout)

    @_like(Collection.compact)
    def compact(self, arguments: Arguments) -> None:
        self._change("compact", **arguments)

    def verify(self) -> Report:
        """Read every byte of the collection there, see `fewbits.Collection.verify`.

        Returns
        -------
        fewbits.store.Report
        """
        answer = self._connection.post("/v1/verify")
        for damage in answer["damages"]:
            del damage["text"]
        return Report.from_dict({x.name: answer[x.name] for x in fields_of(Report)})

    # Versions.

    @_like(Collection.tag)
    def tag(self, arguments: Arguments) -> int:
        self._change("tag", **arguments)
        return self.tags()[arguments["name"]]

    @_like(Collection.untag)
    def untag(self, arguments: Arguments) -> None:
        self._change("untag", **arguments)

    @_like(Collection.restore)
    def restore(self, arguments: Arguments) -> int:
        self._change("restore", **arguments)
        return int(self.version)

    def tags(self) -> dict[str, int]:
        """Return the names of versions, and which these are."""
        tags: dict[str, int] = self._connection.get("/v1/versions")["tags"]
        return tags

    def tag_times(self) -> dict[str, datetime]:
        """Return when versions got their names, in UTC, as far as this is known."""
        times = self._connection.get("/v1/versions")["tag_times"]
        return {name: datetime.fromisoformat(time) for name, time in times.items()}

    def versions(self) -> list[int]:
        """Return the versions that are still there, the newest last."""
        versions: list[int] = self._connection.get("/v1/versions")["versions"]
        return versions

    def at(self, version: int | str) -> RemoteCollection:
        """Return the collection as it was at a version, or at one of this name.

        It can only be read, over the connections of this one. Raises ArgumentError
        where this version is gone, or none has this name.
        """
        return RemoteCollection(self._connection, version)

    # Reading.

    @_like(Collection.get)
    def get(self, arguments: Arguments) -> list[dict[str, Any]]:
        names = _names(arguments["columns"])
        ids = [name for name in ("id", self.id_name) if name not in self.columns]
        if names is None:
            names = self.columns
        names = [x for x in split_names(names, [*self.columns, *ids]) if x not in ids]
        records: list[dict[str, Any]] = []
        for table in self._items("ids", plain_ids(arguments["ids"]), columns=names):
            records += python_rows(table.select(names))
        return records

    def __getitem__(self, id: Any) -> dict[str, Any]:
        return self.get([id])[0]

    @_like(Collection.batches)
    def batches(self, arguments: Arguments) -> Iterator[Any]:
        fields, positions = _fields(arguments), range(len(self))
        for table in self._items("positions", positions, **fields):
            yield table.drop_columns(CODE)

    @_like(Collection.to_arrow)
    def to_arrow(self, arguments: Arguments) -> Any:
        import pyarrow as pa

        return pa.concat_tables(self.batches(**arguments))

    @_like(Collection.to_pandas)
    def to_pandas(self, arguments: Arguments) -> Any:
        return as_pandas(self.to_arrow(**arguments))

    @_like(Collection.column)
    def column(self, arguments: Arguments) -> NDArray[Any]:
        name, positions = arguments["name"], arguments["positions"]
        if name not in self.columns:
            raise ArgumentError(no_column("the collection", name, self.columns))
        if positions is None:
            return _objects(self.to_arrow([name])[name])
        # A server takes each position once.
        numbers = np.arange(len(self))[positions]
        once, order = np.unique(numbers, return_inverse=True)
        tables = self._items("positions", once.tolist(), columns=[name])
        return np.concatenate([_objects(table[name]) for table in tables])[order]

    def __iter__(self) -> Iterator[Any]:
        """Yield the ids, in the order in which items were added."""
        return iter(self.ids.tolist())

    def __contains__(self, id: Any) -> bool:
        fields = {"columns": [], "missing_ok": True}
        return any(map(len, self._items("ids", plain_ids([id]), **fields)))

    @property
    def ids(self) -> NDArray[Any]:
        """Ids in the order of the items: int64, or objects that are texts."""
        return _ids_array(self.to_arrow(())[self.id_name])

    # Requests.

    def _post(self, path: str, table: Any = None, **fields: Any) -> dict[str, Any]:
        return self._connection.post(path, table, at=self._at, **fields)

    def _table(
        self, path: str, table: Any = None, **fields: Any
    ) -> tuple[Any, dict[str, Any]]:
        return self._connection.table(path, table, at=self._at, **fields)

    def _items(self, by: str, values: Sequence[Any], **fields: Any) -> Iterator[Any]:
        """Yield tables of items by their ids or positions; one at least."""
        for start in range(0, max(1, len(values)), _ROWS):
            part = {by: [*values[start : start + _ROWS]]}
            yield self._table("/v1/items", **part, **fields)[0]

    def _query(self, arguments: Arguments) -> tuple[str, Any]:
        """Take the query from arguments; return its kind, and its items as a column."""
        import pyarrow as pa

        names = next(iter(arguments)), *KINDS
        values = {name: arguments.pop(name) for name in names}
        values = {name: x for name, x in values.items() if x is not None}
        if len(values) != 1:
            raise ArgumentError(f"give exactly one of {', '.join(names)}")
        ((kind, items),) = values.items()
        if kind == "ids":
            return kind, pa.array(plain_ids(items))
        if kind == "codes":
            return kind, code_column(items, self.facts["n_bits"])
        return item_column(items, self.facts, None if kind == names[0] else kind)

    def _tables(self, kind: str, column: Any, n_hits: int) -> Iterator[Any]:
        """Yield tables of queries, each for one request."""
        import pyarrow as pa

        limits = self.facts["limits"]
        per_query = max(1, min(n_hits, len(self)))
        most = min(limits["max_queries"], max(1, limits["max_hits"] // per_query))
        n_bytes = limits["max_body_bytes"]
        if kind == "texts":  # a character is a byte or more
            n_bytes = min(n_bytes, 2 * limits["max_characters"])
        for part in parts(column, most, n_bytes):
            yield pa.table({kind: part})

    def _examples(self, items: Any) -> dict[str, Any] | None:
        """Return examples as JSON says them; None where there are none."""
        if isinstance(items, list | tuple) and not items:
            return None
        kind, column = item_column(items, self.facts, None)
        values = column.to_pylist()
        if kind == "images":
            values = [base64.b64encode(value).decode() for value in values]
        return {kind: values}

    def _send_rows(
        self, verb: str, *, timeout: Any, progress: Any, **arguments: Any
    ) -> int:
        is_of_images = arguments.pop("images") is not None or self.kind == "images"
        if arguments.pop("skip_unreadable") or is_of_images:
            raise ArgumentError(NO_IMAGES)
        facts = self.facts
        if self._changes is not None:  # which may bring columns
            facts = {**facts, "columns": facts["columns"] + self._of_thread.columns}
        table, fields = rows_table(facts, **arguments)
        if self._changes is not None:
            return self._change(verb, table, **fields)
        limit, n_changed, done = facts["limits"]["max_body_bytes"], 0, 0
        for part in parts(table, len(table) or 1, limit):
            # Warnings are the same of each part.
            n_changed += self._change(
                verb, part, warns=not done, timeout=timeout, **fields
            )
            done += len(part)
            if progress is not None:
                progress(done, len(table))
        return n_changed

    @property
    def _changes(self) -> list[dict[str, Any]] | None:
        """Changes of the open transaction of this thread."""
        changes: list[dict[str, Any]] | None = getattr(self._of_thread, "changes", None)
        return changes

    def _change(
        self, verb: str, table: Any = None, *, warns: bool = True, **fields: Any
    ) -> int:
        """Change the collection now, or at the end of a transaction."""
        if self._at is not None:
            raise ArgumentError(
                f"version {self._at} of the collection is read-only: change the "
                "collection itself"
            )
        if self._changes is not None:
            if verb not in _IN_TRANSACTIONS:
                raise ArgumentError(_OPEN)
            fields.pop("timeout", None)
            change: dict[str, Any] = {verb: fields}
            if table is not None:
                change["table"] = base64.b64encode(write_stream(table, "{}")).decode()
                columns = [{"name": x.name, "type": str(x.type)} for x in table.schema]
                self._of_thread.columns += columns
            self._changes.append(change)
            return 0
        path = f"/v1/{verb.replace('_', '-')}"
        answer = self._connection.post(path, table, **fields)
        # Facts that are known are older: they are asked for anew.
        self._connection.snapshot = answer["snapshot"]
        for message in answer.get("warnings", ()) if warns else ():
            warn_user(message)
        return int(answer["n_changed"])


class RemoteDuplicates:
    """Pairs and groups of near duplicates, as `fewbits.collection.Duplicates`."""

    def __init__(
        self, table: Callable[..., tuple[Any, dict[str, Any]]], fields: dict[str, Any]
    ) -> None:
        self._table, self._fields = table, fields

    def __iter__(self) -> Iterator[DuplicatePairs]:
        table = self.to_arrow()
        if not len(table):
            return
        ids = [_ids_array(table[name]) for name in ("first", "second")]
        between = None
        if "vector_distance" in table.column_names:
            between = table["vector_distance"].to_numpy()
        distances = table["distance"].to_numpy()
        yield DuplicatePairs(np.stack(ids, axis=1), distances, between)

    def to_arrow(self) -> Any:
        """Return all pairs as an Arrow table."""
        return self._table("/v1/duplicates", **self._fields)[0]

    def to_list(self) -> list[dict[str, Any]]:
        """Return all pairs as a list of dicts."""
        return [pair for pairs in self for pair in pairs.to_list()]

    def groups(self, *, max_pairs: int | None = None) -> DuplicateGroups:
        """Return the groups of items that pairs connect."""
        table, others = self._table(
            "/v1/duplicate-groups", max_pairs=max_pairs, **self._fields
        )
        sizes = np.bincount(table["_group"].to_numpy(), minlength=others["n_groups"])
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return DuplicateGroups(_ids_array(table[ID]), offsets, others["n_pairs"])


def _hits(answers: Sequence[tuple[Any, dict[str, Any]]], *, text_ids: bool) -> Hits:
    """Return the answers to parts of a search as one."""
    import pyarrow as pa

    shape = sum(x["n_queries"] for _, x in answers), max(x["k"] for _, x in answers)
    last = answers[-1][1]
    bits = last["metric"] == "hamming"
    distances = np.full(shape, -1 if bits else np.inf, np.int32 if bits else np.float32)
    ids = np.full(shape, None, object) if text_ids else np.full(shape, -1, np.int64)
    start, tables, unknown = 0, [], []
    for table, others in answers:
        at = table["query"].to_numpy() + start, table["rank"].to_numpy() - 1
        distances[at] = table["distance"].to_numpy()
        ids[at] = _ids_array(table["id"])
        # The user's come last, some behind a prefix: the server says their names.
        names = others["columns"]
        numbers = range(table.num_columns - len(names), table.num_columns)
        tables.append(table.select(list(numbers)).rename_columns(names))
        start += others["n_queries"]
        unknown.append(others["out_of_distribution"])
    whole, far = pa.concat_tables(tables), None
    if last["out_of_distribution"] is not None:
        far = np.array([x for part in unknown for x in part], np.bool_)
    return Hits(ids, distances, last["metric"], last["version"], lambda: whole, far)


def _ids_array(column: Any) -> NDArray[Any]:
    if column.type == "int64":
        return np.array(column.to_pylist(), np.int64)
    return _objects(column)


def _objects(column: Any) -> NDArray[Any]:
    values = python_values(column)
    return np.fromiter(values, object, len(values))


# Arguments as JSON has them.


def _fields(arguments: Arguments) -> dict[str, Any]:
    """Return arguments as the fields of a request; None is left out."""
    return {
        name: _SENT[name](value) if name in _SENT else value
        for name, value in arguments.items()
        if value is not None
    }


def _text_filter(filter: Any) -> str:
    """Refuse conditions that only this machine understands."""
    if isinstance(filter, str):
        return filter
    raise ArgumentError('a server takes conditions as texts, such as "year > 2020"')


def _allowed(allowed: Any) -> list[Any]:
    ids = plain_ids(allowed)
    if ids and isinstance(ids[0], bool):
        raise ArgumentError("a server takes ids that are allowed, not a mask")
    return ids


def _names(columns: Sequence[str] | None) -> list[str] | None:
    if isinstance(columns, str):
        raise ArgumentError(f"columns must be a list of names: give [{columns!r}]")
    return None if columns is None else list(columns)


def _decoder_fields(decoder: Decoder | str) -> dict[str, Any]:
    """Return the name of a decoder and its parameters."""
    decoder = decoder_of(decoder)
    names = {kind: name for name, kind in DECODERS.items()}
    if type(decoder) not in names:
        raise ArgumentError(f"a server knows no decoder {decoder!r}")
    settings = {f.name: getattr(decoder, f.name) for f in fields_of(decoder)}
    return {"name": names[type(decoder)], **settings}


_SENT: dict[str, Callable[[Any], Any]] = {
    "filter": _text_filter,
    "allowed": _allowed,
    "columns": _names,
    "ids": plain_ids,
    "good_ids": plain_ids,
    "bad_ids": plain_ids,
    "decoder": _decoder_fields,
}
