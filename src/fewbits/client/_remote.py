"""A collection that another process serves."""

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields as fields_of
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_k, check_radius
from fewbits._typing import CodeArray
from fewbits.classify.decoders import DECODERS, Decoder, decoder_of
from fewbits.client._connection import Connection
from fewbits.client._items import (
    code_column,
    item_column,
    parts,
    plain_ids,
    rows_table,
    sent_table,
    table_of,
    vector_column,
)
from fewbits.collection import (
    KINDS,
    Classification,
    DuplicateGroups,
    DuplicatePairs,
    Hits,
    RecallEstimate,
)
from fewbits.errors import ArgumentError
from fewbits.store import ID, Report

Progress = Callable[[int, int], None]
_ROWS = 10_000  # of the collection that are read at a time
#: What only a local collection can do, by what to do instead.
_INSTEAD = {
    "open its folder where it lies": "save backup path file_names disk_bytes usage "
    "repair verify_folder repair_folder "
    "prefix reencode last_verified create check_target vectors vectors_at vector_dtype "
    "knows_features left_over with_facts read_items add_missing",
    "a server answers from the newest version": "versions at frozen",
    "the encoder and its classes stay on the server, ask encode() and classify()": (
        "encoder codebook calibration rejection features check_codes_of from_learner "
        "from_parts"
    ),
    "ask for items by their ids, or by search()": "take positions_of mask "
    "group_numbers",
    "ask for those of some items: encode(ids=)": "codes",
    "ask for column()": "labels",
    "ask for to_arrow().schema": "schema",
    "ids are whole numbers or texts, see has_text_ids": "typed_id",
    "fewbits.open() opens both": "open",
    "the server does so by itself": "warm",
}
_LOCAL = {name: why for why, names in _INSTEAD.items() for name in names.split()}


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
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._facts: dict[str, Any] = connection.get("/v1/facts")

    def __repr__(self) -> str:
        return f"RemoteCollection({self._connection.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        if name in _LOCAL:
            raise ArgumentError(
                f"a collection behind an address has no {name}: {_LOCAL[name]}"
            )
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()

    # Facts.

    @property
    def facts(self) -> dict[str, Any]:
        """The answer to ``GET /v1/facts``, of the newest version."""
        if self._facts["snapshot"] != self._connection.snapshot:
            self.refresh()
        return self._facts

    def refresh(self) -> bool:
        """Ask for the facts anew; return whether the collection has changed."""
        before = self._facts["snapshot"]
        self._facts = self._connection.get("/v1/facts")
        return bool(self._facts["snapshot"] != before)

    def __len__(self) -> int:
        return int(self.facts["n_items"])

    @property
    def kind(self) -> str:
        """What the items are: "texts", "images", "vectors" or "codes"."""
        return str(self.facts["kind"])

    @property
    def backbone(self) -> str | None:
        """Id of the backbone that makes features of the items; None of vectors."""
        name: str | None = self.facts["backbone"]
        return name

    @property
    def item_column(self) -> str | None:
        """The column with texts or paths of images; None of vectors, or if not kept."""
        name: str | None = self.facts["item_column"]
        return name

    @property
    def label_column(self) -> str | None:
        """The column with labels, None where there is none."""
        name: str | None = self.facts["label_column"]
        return name

    @property
    def has_text_ids(self) -> bool:
        """True if ids are texts, False if they are whole numbers."""
        return bool(self.facts["id_type"] == "string")

    @property
    def columns(self) -> list[str]:
        """Names of the columns, without the ids."""
        return [column["name"] for column in self.facts["columns"]]

    @property
    def id_name(self) -> str:
        """Name of the ids in `to_arrow`."""
        return str(self.facts["id_name"])

    @property
    def version(self) -> int:
        """Number of the newest version."""
        return int(self.facts["collection_version"])

    def summary(self) -> dict[str, Any]:
        """Return what there is to know in a few plain values."""
        summary: dict[str, Any] = self.facts["summary"]
        return summary

    # Search.

    def search(
        self,
        queries: Any = None,
        k: int | None = None,
        *,
        texts: Any = None,
        vectors: Any = None,
        images: Any = None,
        ids: Any = None,
        codes: Any = None,
        radius: int | None = None,
        filter: Any = None,
        allowed: Any = None,
        group_by: str | None = None,
        rerank: bool | None = None,
        shortlist: int | None = None,
        columns: Sequence[str] | None = None,
    ) -> Hits:
        """Return the nearest items of each query, see `fewbits.Collection.search`.

        Returns
        -------
        Hits
        """
        items = self._items(queries, texts, vectors, images, ids, codes)
        k = None if k is None else check_k(k)
        limit = self.facts["limits"]["max_hits"]
        hits = (10 if k is None else k) if radius is None else (k or limit)
        answers = [
            self._connection.table(
                "/v1/search",
                table,
                k=k,
                radius=None if radius is None else check_radius(radius),
                filter=_text_filter(filter),
                allowed=None if allowed is None else _allowed(allowed),
                group_by=group_by,
                rerank=rerank,
                shortlist=shortlist,
                columns=_names(columns),
            )
            for table in self._tables(*items, hits)
        ]
        return _hits(answers, text_ids=self.has_text_ids)

    def like(
        self,
        good: Any = (),
        bad: Any = (),
        *,
        good_ids: Any = (),
        bad_ids: Any = (),
        k: int = 10,
        filter: Any = None,
        allowed: Any = None,
        columns: Sequence[str] | None = None,
        n_random: int = 1000,
        C: float = 100.0,
        random_state: int = 0,
    ) -> Hits:
        """Rank the items by a class of examples, see `fewbits.Collection.like`.

        Returns
        -------
        Hits
        """
        answer = self._connection.table(
            "/v1/like",
            good=self._examples(good),
            bad=self._examples(bad),
            good_ids=plain_ids(good_ids) or None,
            bad_ids=plain_ids(bad_ids) or None,
            k=k,
            filter=_text_filter(filter),
            allowed=None if allowed is None else _allowed(allowed),
            columns=_names(columns),
            n_random=n_random,
            C=C,
            random_state=random_state,
        )
        return _hits([answer], text_ids=self.has_text_ids)

    def classify(
        self,
        items: Any = None,
        *,
        texts: Any = None,
        vectors: Any = None,
        images: Any = None,
        ids: Any = None,
        codes: Any = None,
        label: str | None = None,
        k: int | None = None,
        linear: bool = False,
        decoder: Any = None,
        max_false_reject_rate: float | None = None,
        max_false_accept_rate: float | None = None,
        top: int | None = None,
    ) -> Classification:
        """Return the class of each item, see `fewbits.Collection.classify`.

        Returns
        -------
        Classification
        """
        query = self._items(items, texts, vectors, images, ids, codes)
        records: list[dict[str, Any]] = []
        expected = None
        for table in self._tables(*query, 1):
            answer = self._connection.post_table(
                "/v1/classify",
                table,
                label=label,
                k=k,
                linear=linear or None,
                decoder=None if decoder is None else _named(decoder_of(decoder)),
                max_false_reject_rate=max_false_reject_rate,
                max_false_accept_rate=max_false_accept_rate,
                top=top,
            )
            records += answer["results"]
            expected = answer.get("expected")
        return Classification.of_records(records, expected)

    def encode(
        self,
        items: Any = None,
        *,
        texts: Any = None,
        vectors: Any = None,
        images: Any = None,
        ids: Any = None,
        codes: Any = None,
        progress: Progress | None = None,
    ) -> CodeArray:
        """Return the packed codes of items, see `fewbits.Collection.encode`.

        Returns
        -------
        ndarray of shape (n, ceil(n_bits / 8)), dtype uint8
        """
        width = self.facts["bytes_per_code"]
        query = self._items(items, texts, vectors, images, ids, codes)
        pieces, done = [], 0
        for table in self._tables(*query, 1):
            piece, _ = self._connection.table("/v1/encode", table)
            pieces.append(_codes_of(piece["_code"], width))
            done += len(table)
            if progress is not None:
                progress(done, len(query[1]))
        return np.concatenate(pieces)

    def duplicates(
        self,
        radius: int,
        *,
        max_vector_distance: float | None = None,
        filter: Any = None,
        allowed: Any = None,
    ) -> "RemoteDuplicates":
        """Return pairs and groups of near items, see `fewbits.Collection.duplicates`.

        Returns
        -------
        RemoteDuplicates
        """
        return RemoteDuplicates(
            self._connection,
            radius=check_radius(radius),
            max_vector_distance=max_vector_distance,
            filter=_text_filter(filter),
            allowed=None if allowed is None else _allowed(allowed),
        )

    def recall(
        self,
        k: int = 10,
        *,
        queries: Any = None,
        vectors: Any = None,
        n_queries: int | None = None,
        shortlist: int | None = None,
        confidence: float = 0.95,
        random_state: int = 0,
        progress: Progress | None = None,
    ) -> tuple[RecallEstimate, ...]:
        """Estimate the recall of each way to search, see `fewbits.Collection.recall`.

        Returns
        -------
        tuple of RecallEstimate
        """
        answer = self._connection.post(
            "/v1/recall",
            k=k,
            queries=None if queries is None else self._examples(queries),
            vectors=None if vectors is None else vector_column(vectors).to_pylist(),
            n_queries=n_queries,
            shortlist=shortlist,
            confidence=confidence,
            random_state=random_state,
        )
        if progress is not None:
            progress(len(self), len(self))
        return tuple(RecallEstimate(**estimate) for estimate in answer["estimates"])

    # Changes.

    def add(
        self,
        data: Any = None,
        *,
        column: str | Sequence[str] | None = None,
        images: str | None = None,
        codes: Any = None,
        id: str | None = None,
        ids: Any = None,
        label: str | None = None,
        columns: Sequence[str] | Mapping[str, Any] | None = None,
        skip_blank: bool = False,
        skip_unreadable: bool = False,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Add items, see `fewbits.Collection.add`.

        Files are read here, and many rows go in several steps.

        Returns
        -------
        int
            How many were added.
        """
        return self._send_rows(
            "/v1/add",
            data,
            timeout,
            progress,
            column=column,
            images=images,
            codes=codes,
            id=id,
            ids=ids,
            label=label,
            columns=columns,
            skip_blank=skip_blank,
            skip_unreadable=skip_unreadable,
        )

    def upsert(
        self,
        data: Any = None,
        *,
        column: str | Sequence[str] | None = None,
        images: str | None = None,
        codes: Any = None,
        id: str | None = None,
        ids: Any = None,
        label: str | None = None,
        columns: Sequence[str] | Mapping[str, Any] | None = None,
        skip_blank: bool = False,
        skip_unreadable: bool = False,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Add items in place of those of their ids, see `fewbits.Collection.upsert`.

        Files are read here, and many rows go in several steps.

        Returns
        -------
        int
            How many were added.
        """
        return self._send_rows(
            "/v1/upsert",
            data,
            timeout,
            progress,
            column=column,
            images=images,
            codes=codes,
            id=id,
            ids=ids,
            label=label,
            columns=columns,
            skip_blank=skip_blank,
            skip_unreadable=skip_unreadable,
        )

    def update(
        self,
        data: Any,
        *,
        id: str | None = None,
        ids: Any = None,
        columns: Sequence[str] | Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> int:
        """Change columns of items, see `fewbits.Collection.update`.

        Returns
        -------
        int
            How many were changed.
        """
        names: list[str] | None = None
        if data is None and ids is not None and isinstance(columns, Mapping):
            if ID in columns or self.facts["id_column"] in columns:
                raise ArgumentError(
                    "ids stay: delete the items, and add them with other ids"
                )
            id = ID
            table = table_of({id: plain_ids(ids), **columns})
        elif data is None or ids is not None or isinstance(columns, Mapping):
            raise ArgumentError(
                "update takes a table, or ids= and a mapping of columns="
            )
        else:
            table, names = sent_table(data), _names(columns)
        answer = self._connection.post_table(
            "/v1/update", table, id=id, columns=names, timeout=timeout
        )
        return self._changed(answer)

    def delete(
        self,
        ids: Any = None,
        *,
        filter: Any = None,
        missing_ok: bool = False,
        timeout: float | None = None,
    ) -> int:
        """Delete items, see `fewbits.Collection.delete`.

        Returns
        -------
        int
            How many were deleted.
        """
        if ids is None and filter is None:
            raise ArgumentError("delete needs ids or a filter")
        answer = self._connection.post(
            "/v1/delete",
            ids=None if ids is None else plain_ids(ids),
            filter=_text_filter(filter),
            missing_ok=missing_ok or None,
            timeout=timeout,
        )
        return self._changed(answer)

    def compact(self, *, timeout: float | None = None) -> None:
        """Make the folder as small as it can be, see `fewbits.Collection.compact`."""
        self._changed(self._connection.post("/v1/compact", timeout=timeout))

    def verify(self) -> Report:
        """Read every byte of the collection there, see `fewbits.Collection.verify`.

        Returns
        -------
        fewbits.store.Report
        """
        answer = self._connection.post("/v1/verify")
        names = [field.name for field in fields_of(Report)]
        damages = [
            {name: value for name, value in damage.items() if name != "text"}
            for damage in answer["damages"]
        ]
        facts = {name: answer[name] for name in names}
        return Report.from_dict({**facts, "damages": damages})

    # Reading.

    def get(
        self, ids: Any, columns: Sequence[str] | None = None
    ) -> list[dict[str, Any]]:
        """Return the columns of items, a dict for each id."""
        names = self.columns if columns is None else list(columns)
        records: list[dict[str, Any]] = []
        for table in self._rows(ids, names):
            kept = table.select(names)
            records += kept.to_pylist() if names else [{}] * len(table)
        return records

    def __getitem__(self, id: Any) -> dict[str, Any]:
        return self.get([id])[0]

    def batches(
        self, columns: Sequence[str] | None = None, *, filter: Any = None
    ) -> Iterator[Any]:
        """Yield Arrow tables of ids and columns, in the order of the items."""
        names, condition = _names(columns), _text_filter(filter)
        n = len(self)
        for start in range(0, max(1, n), _ROWS):
            positions = list(range(start, min(start + _ROWS, n)))
            answer, _ = self._connection.table(
                "/v1/items", positions=positions, columns=names, filter=condition
            )
            yield answer.drop_columns("_code")

    def to_arrow(
        self, columns: Sequence[str] | None = None, *, filter: Any = None
    ) -> Any:
        """Return ids and columns as one Arrow table, see `batches`."""
        import pyarrow as pa

        return pa.concat_tables(self.batches(columns, filter=filter))

    def column(self, name: str, positions: Any = None) -> NDArray[Any]:
        """Return a column, or some of it by positions, as an array of objects."""
        if positions is None:
            return _objects(self.to_arrow([name])[name])
        numbers = np.arange(len(self))[positions]
        # A server takes each position once.
        once, order = np.unique(numbers, return_inverse=True)
        values: NDArray[Any] = np.empty(len(once), object)
        for start in range(0, max(1, len(once)), _ROWS):
            some = once[start : start + _ROWS].tolist()
            fields = {"positions": some, "columns": [name]}
            answer, _ = self._connection.table("/v1/items", **fields)
            values[start : start + len(some)] = _objects(answer[name])
        return values[order]

    def __iter__(self) -> Iterator[Any]:
        """Yield the ids, in the order in which items were added."""
        return iter(self.ids.tolist())

    def __contains__(self, id: Any) -> bool:
        fields = {"ids": plain_ids([id]), "columns": [], "missing_ok": True}
        return bool(len(self._connection.table("/v1/items", **fields)[0]))

    @property
    def ids(self) -> NDArray[Any]:
        """Ids in the order of the items: int64, or objects that are texts."""
        return _ids_array(self.to_arrow(())[self.id_name])

    def _rows(self, ids: Any, columns: Sequence[str]) -> Iterator[Any]:
        every = plain_ids(ids)
        for start in range(0, len(every), _ROWS):
            some = every[start : start + _ROWS]
            names = list(columns)
            yield self._connection.table("/v1/items", ids=some, columns=names)[0]

    # Requests.

    def _items(self, *values: Any) -> tuple[str, Any]:
        """Return the kind of a query and its items as an Arrow column."""
        import pyarrow as pa

        given = [i for i, value in enumerate(values) if value is not None]
        if len(given) != 1:
            raise ArgumentError(f"give exactly one of queries, {', '.join(KINDS)}")
        items = values[given[0]]
        kind = (None, *KINDS)[given[0]]
        if kind == "ids":
            return kind, pa.array(plain_ids(items))
        if kind == "codes":
            return kind, code_column(items, self.facts["n_bits"])
        return item_column(items, self.facts, kind)

    def _tables(self, kind: str, column: Any, hits: int) -> Iterator[Any]:
        """Yield tables of queries, each for one request."""
        import pyarrow as pa

        limits = self.facts["limits"]
        per_query = max(1, min(hits, len(self)))
        most = min(limits["max_queries"], max(1, limits["max_hits"] // per_query))
        for part in parts(column, most, limits["max_body_bytes"]):
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
        self,
        path: str,
        data: Any,
        timeout: float | None,
        progress: Progress | None,
        **options: Any,
    ) -> int:
        is_of_images = options.pop("images") is not None or self.kind == "images"
        if options.pop("skip_unreadable") or is_of_images:
            raise ArgumentError("images are added where they lie: 'fewbits add'")
        table, fields = rows_table(data, self.facts, **options)
        limit, n_changed, done = self.facts["limits"]["max_body_bytes"], 0, 0
        for part in parts(table, len(table) or 1, limit):
            send = partial(self._connection.post_table, path, part)
            n_changed += self._changed(send(timeout=timeout, **fields))
            done += len(part)
            if progress is not None:
                progress(done, len(table))
        return n_changed

    def _changed(self, answer: dict[str, Any]) -> int:
        # Facts that are known are older: they are asked for anew.
        self._connection.snapshot = answer["snapshot"]
        return int(answer["n_changed"])


class RemoteDuplicates:
    """Pairs and groups of near duplicates, as `fewbits.collection.Duplicates`."""

    def __init__(self, connection: Connection, **fields: Any) -> None:
        self._connection, self._fields = connection, fields

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
        return self._connection.table("/v1/duplicates", **self._fields)[0]

    def to_list(self) -> list[dict[str, Any]]:
        """Return all pairs as a list of dicts."""
        return [pair for pairs in self for pair in pairs.to_list()]

    def groups(self, *, max_pairs: int | None = None) -> DuplicateGroups:
        """Return the groups of items that pairs connect."""
        table, others = self._connection.table(
            "/v1/duplicate-groups", max_pairs=max_pairs, **self._fields
        )
        sizes = np.bincount(table["_group"].to_numpy(), minlength=others["n_groups"])
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return DuplicateGroups(_ids_array(table["_id"]), offsets, others["n_pairs"])


def _hits(answers: Sequence[tuple[Any, dict[str, Any]]], *, text_ids: bool) -> Hits:
    """Return the answers to parts of a search as one."""
    import pyarrow as pa

    n_queries = sum(others["n_queries"] for _, others in answers)
    k = max(others["k"] for _, others in answers)
    last = answers[-1][1]
    bits = last["metric"] == "hamming"
    kind, far = (np.int32, -1) if bits else (np.float32, np.inf)
    distances = np.full((n_queries, k), far, kind)
    ids: NDArray[Any] = np.full((n_queries, k), -1, np.int64)
    if text_ids:
        ids = np.full((n_queries, k), None, object)
    start, tables = 0, []
    unknown: list[NDArray[np.bool_]] = []
    for table, others in answers:
        at = table["query"].to_numpy() + start, table["rank"].to_numpy() - 1
        distances[at] = table["distance"].to_numpy()
        ids[at] = _ids_array(table["id"])
        # The user's come last, some behind a prefix: the server says their names.
        names = others["columns"]
        numbers = range(table.num_columns - len(names), table.num_columns)
        tables.append(table.select(list(numbers)).rename_columns(names))
        start += others["n_queries"]
        if others.get("out_of_distribution") is not None:
            unknown.append(np.array(others["out_of_distribution"], np.bool_))
    whole = pa.concat_tables(tables)
    beyond = np.concatenate(unknown) if unknown else None
    return Hits(ids, distances, last["metric"], last["version"], lambda: whole, beyond)


def _ids_array(column: Any) -> NDArray[Any]:
    if column.type == "int64":
        return np.array(column.to_pylist(), np.int64)
    return _objects(column)


def _objects(column: Any) -> NDArray[Any]:
    values = column.to_pylist()
    return np.fromiter(values, object, len(values))


def _codes_of(column: Any, width: int) -> CodeArray:
    data = b"".join(column.to_pylist())
    return np.frombuffer(data, np.uint8).reshape(-1, width)


def _text_filter(filter: Any) -> str | None:
    """Refuse conditions that only this machine understands."""
    if filter is None or isinstance(filter, str):
        return filter
    raise ArgumentError('a server takes conditions as texts, such as "year > 2020"')


def _allowed(allowed: Any) -> list[Any]:
    ids = plain_ids(allowed)
    if ids and isinstance(ids[0], bool):
        raise ArgumentError("a server takes ids that are allowed, not a mask")
    return ids


def _names(columns: Sequence[str] | None) -> list[str] | None:
    if isinstance(columns, str):
        raise ArgumentError(f"columns must be a list of names, got {columns!r}")
    return None if columns is None else list(columns)


def _named(decoder: Decoder) -> dict[str, Any]:
    """Return the name of a decoder and its parameters."""
    names = {kind: name for name, kind in DECODERS.items()}
    if type(decoder) not in names:
        raise ArgumentError(f"a server knows no decoder {decoder!r}")
    settings = {f.name: getattr(decoder, f.name) for f in fields_of(decoder)}
    return {"name": names[type(decoder)], **settings}
