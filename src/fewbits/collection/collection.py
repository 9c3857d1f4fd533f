"""A collection: an encoder and the rows that it has encoded.

    vectors, texts, images --backbone--> features --encoder--> codes of a few bits

`fit` learns an encoder alone, `Collection.create` learns one and keeps the items that
it encodes; `fewbits.open` opens a folder, or the address of a server. Then

* `search`, `like`, `classify`, `duplicates` and `recall` ask a collection;
* `add`, `upsert`, `update`, `delete` and `drop_columns` change it, in a `transaction`
  all at once;
* `get`, `batches` and `to_arrow` read columns;
* `tag` names a version, `at` reads and `restore` returns to an earlier one;
* `compact`, `verify`, `repair`, `backup` and `reencode` maintain it.

A handle holds a version: a model (`_model`) and rows (`_rows`, over `fewbits.store`).
Data become rows in `_making`, questions answers in `_search`, and `_folder` is what
lies on the disk.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._arrow import known_names, python_rows
from fewbits._checks import (
    check_choice,
    check_count,
    check_k,
    check_radius,
    whole_number,
)
from fewbits._ids import absolute_paths, check_known, id_column
from fewbits._typing import CodeArray, IdArray
from fewbits.classify import Calibration, Codebook
from fewbits.collection import _folder, _making, _verification
from fewbits.collection._duplicates import Duplicates
from fewbits.collection._examples import COST, N_RANDOM, rank_by_examples
from fewbits.collection._model import Facts, Model, Progress
from fewbits.collection._recall import RecallEstimate, estimate_recall
from fewbits.collection._rows import INDEXES, Rows, keep_tables
from fewbits.collection._search import Query, Search, metric_of
from fewbits.collection._table import FORMS, filtered
from fewbits.collection._version import Version
from fewbits.collection.classes import Classification, classify, label_rows
from fewbits.collection.hits import Hits, as_pandas
from fewbits.encoders import Encoder
from fewbits.errors import ArgumentError, ArtefactError, a_kind
from fewbits.inputs import Input
from fewbits.ood import Rejection
from fewbits.store import ID, RepairReport, Report, Store

# What arguments and answers are; the methods say more.
Data: TypeAlias = Any  # a path, a table or data frame, an array, a list of items
Items: TypeAlias = Any  # texts, images, or an array-like of vectors
Vectors: TypeAlias = Any  # array-like of shape (n, n_features)
Codes: TypeAlias = Any  # array-like of shape (n, n_bytes), dtype uint8
Ids: TypeAlias = Any  # array-like of whole numbers or of texts
Filter: TypeAlias = Any  # a condition in SQL, or a pyarrow.compute.Expression
Names: TypeAlias = Sequence[str]
Columns: TypeAlias = Names | Mapping[str, Any]
Table: TypeAlias = Any  # pyarrow.Table
Schema: TypeAlias = Any  # pyarrow.Schema
Source: TypeAlias = Any  # an Encoder, a Collection, or the path of one

#: What other libraries call things, by what to call here.
_INSTEAD = {
    "len(col)": "ntotal count size shape n_items",
    "search(queries, k)": "query kneighbors knn nearest find similarity_search",
    "create(path, data, learner=), which learns": "train fit fit_transform",
    "encode(items)": "transform predict_codes",
    "classify(items)": "predict",
    "add(data) and upsert(data)": "insert append extend add_with_ids put",
    "delete(ids)": "remove remove_ids drop pop",
    "to_pandas()": "head tail sample iloc loc to_df df to_csv to_parquet",
    "search(ids=[...])": "reconstruct",
    "save(path)": "write write_index dump",
}
#: Where labels are kept that were not a column of a table.
LABEL_COLUMN = "label"


def fit(
    data: Any,
    *,
    column: str | Sequence[str] | None = None,
    images: str | None = None,
    label: str | None = None,
    columns: Mapping[str, Any] | None = None,
    learner: Any = None,
    bits: int | None = None,
    backbone: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    kernel_map: str | None = None,
    groups: Any = None,
    normalize: bool = False,
    skip_blank: bool = False,
    skip_unreadable: bool = False,
    random_state: int | None = 0,
    progress: Progress | None = None,
) -> Collection:
    """Learn an encoder alone, to share it: a collection in memory that has no rows yet.

    `Collection.save` writes it, and ``Collection.create(..., encoder=)`` takes it. A
    deep learner's classifies, too; items that it held out calibrate probabilities.

    Parameters
    ----------
    data, column, images, label, learner, bits, backbone, normalize, skip_blank, \
skip_unreadable, random_state
        As in `Collection.create`.
    columns : mapping of str to sequence, default=None
        The column that `label` names, of items that are not a table.
    parameters : mapping, default=None
        Parameters of a learner that is named.
    kernel_map : {"intersection", "chi2", "js"}, default=None
        Learn behind a kernel map (`fewbits.learners.KernelMapped`): for
        non-negative features such as histograms.
    groups : array-like of shape (n,), default=None
        A number or name for each item, which copies share, such as frames of one video:
        see `fewbits.ood.learn_rejection`. For deep learners.
    progress : callable, default=None
        Called with (items done, items in all) while features are extracted; learning
        itself reports to `fewbits.learners.fitting.on_progress`.

    Warns
    -----
    UserWarning
        When vectors are bytes, most classes have a single item, classes share a code,
        or the codes of a sample of the items have defects.
    InterruptedWarning
        When the learner was interrupted, or diverged: the last good encoder is kept.

    Examples
    --------
    >>> import fewbits
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(80, 8))
    >>> classes = {"class": ["a", "b"] * 40}
    >>> fewbits.fit(X, columns=classes, label="class", learner="cca-itq", bits=8)
    Collection(LinearEncoder(8 -> 8 bits), 0 items)
    """
    source = _making.read_rows(
        data,
        column=column,
        images=images,
        label=label,
        columns=columns or (),
        skip_blank=skip_blank,
        skip_unreadable=skip_unreadable,
    )
    model = _making.learn_model(
        source,
        learner,
        bits,
        backbone,
        random_state,
        progress,
        parameters=parameters,
        normalize=normalize,
        kernel_map=kernel_map,
        groups=groups,
    )
    return Collection(Version(model), None)


class Collection:
    """An encoder, and the rows that it has encoded: searched, changed, and kept.

    Made by `create` or `open`. The handle changes, as rows come and go; a version does
    not. In a folder each change is one commit, which a crash leaves undone or done;
    several processes may change one folder, and wait for one another. A search works
    with the version that this handle has: `refresh` takes over what others have
    changed. Any number of threads may use one handle.

    Rows have an order, that in which they were added. Items at the same distance come
    in this order in every answer, whatever was deleted, compacted or saved meanwhile.
    An item that `upsert` replaces is added anew, so it goes to the end; `update` leaves
    it in its place.

    Examples
    --------
    >>> import fewbits
    >>> texts = ["red shoe", "blue shoe", "red hat", "warm scarf"]
    >>> col = fewbits.Collection.create(None, texts, learner="lsh", bits=64)
    >>> col.search(["scarf"], k=1)[0][0]["text"]
    'warm scarf'
    >>> col.add(["woollen scarf"])
    1
    >>> len(col), [hit.id for hit in col.search(["scarf"], k=2)[0]]
    (5, [3, 4])
    """

    def __init__(
        self, version: Version, folder: Path | None, *, frozen: bool = False
    ) -> None:
        self._version, self._folder, self._is_frozen = version, folder, frozen
        self._lock = threading.RLock()
        self._writer: Any = None  # of the transaction that is open

    # Making, opening, saving.

    @classmethod
    def create(
        cls,
        path: Path | str | None,
        data: Data = None,
        *,
        column: Names | str | None = None,
        images: str | None = None,
        codes: Codes | str | None = None,
        id: str | None = None,
        ids: Ids = None,
        label: str | None = None,
        columns: Columns | None = None,
        learner: Any = None,
        encoder: Source | None = None,
        bits: int | None = None,
        backbone: str | None = None,
        normalize: bool = False,
        keep_vectors: str | None = None,
        index: str = "auto",
        schema: Schema | None = None,
        types: Schema | Mapping[str, str] | None = None,
        skip_blank: bool = False,
        skip_unreadable: bool = False,
        overwrite: bool = False,
        random_state: int | None = 0,
        progress: Progress | None = None,
    ) -> Self:
        """Learn an encoder from data, encode them, and keep them as a collection.

        Parameters
        ----------
        path : str, Path or None
            A folder, made where it is not there; None for a collection in memory.
        data : object, default=None
            What to search later: the path of a table (CSV, Parquet, Arrow, JSON lines)
            or of vectors, a folder of images, a pattern; a data frame of pandas or
            polars, a table, reader or dataset of Arrow; an array of vectors, or a
            sparse matrix of SciPy; a list of texts, of images, or of rows with names.
        column : str or sequence of str, default=None
            The column of a table with texts or vectors, or several columns of numbers.
            Without it the only one that can be it is taken.
        images : str, default=None
            The column of a table with paths of images.
        codes : str or array-like of shape (n, n_bytes), dtype uint8, default=None
            Codes that exist already, a column of the table, or an array in the place of
            `data`. With an `encoder`, they are what it has made.
        id : str, default=None
            The column of a table with unique ids, whole numbers or texts; for a .npy or
            .txt file, another such file with an id for each row.
        ids : array-like of int or str, default=None
            Ids of items that are not a table. When not given, images have their paths,
            and other items 0, 1, 2, ...
        label : str, default=None
            The column with classes, of a table or among `columns`. Learners that need
            labels learn from it, and a novelty radius is kept, see
            `Hits.out_of_distribution`.
        columns : sequence of str, or mapping of str to sequence, default=None
            Which other columns of a table stay with the items, None for all; or columns
            beside items that are not a table.
        learner : Learner or str, default=None
            What learns the encoder, such as ``NeighbourCodes(256)``, or a short name
            (``fewbits methods`` lists them); ITQ when not given.
        encoder : Encoder, Collection, str or Path, default=None
            In place of learning: an encoder, or the collection that has one, whose
            backbone and class codes come along.
        bits : int, default=None
            Length of the codes; when not given 256 for texts, unless the method learns
            from labels, and otherwise the learner's default.
        backbone : str, default=None
            Id of the backbone that turns texts or images into features.
        normalize : bool, default=False
            Bring all vectors, those of queries too, to length 1: then the nearest are
            those of the smallest angle (cosine), whatever their lengths.
        keep_vectors : {None, "float16", "float32", "int8"}, default=None
            Whether features are kept, to re-rank a shortlist by them.
        index : {"auto", "flat", "multi-index"}, default="auto"
            How codes are searched; answers are the same with each. ``"flat"`` compares
            each query with every code, ``"multi-index"`` looks it up in tables that
            take up to six times the memory of the codes; ``"auto"`` takes the faster.
        schema : pyarrow.Schema, default=None
            In place of data, of the columns of a collection without rows: those beside
            the codes, with that of `id`. Needs an `encoder`.
        types : dict of str to str, or pyarrow.Schema, default=None
            Types of the columns that stay, by the names of Arrow, such as
            ``{"zip": "string", "price": "decimal(10, 2)"}``. Other columns have those
            of the data; in CSV, a type that fits every cell. Types stay for good.
        skip_blank : bool, default=False
            Leave out rows whose text or label is blank, and warn of it.
        skip_unreadable : bool, default=False
            Leave out images that cannot be read, and warn of them, in place of an error
            that names them all.
        overwrite : bool, default=False
            Replace a collection that the folder holds, with all of its versions.
        random_state : int, default=0
            Seeds learning.
        progress : callable, default=None
            Called with (items done, items in all).

        Raises
        ------
        ArgumentError
            When an id repeats or is missing, a column is not there, several could be
            meant, or options do not go together.
        ArtefactError
            When the folder holds something else, or a collection and not `overwrite`.

        Examples
        --------
        >>> import fewbits
        >>> import pyarrow as pa
        >>> table = pa.table({"sku": ["a", "b"], "text": ["red shoe", "blue hat"]})
        >>> col = fewbits.Collection.create(None, table, id="sku", learner="lsh")
        >>> col.search(["a hat"], k=1)[0][0].id
        'b'
        """
        if path is not None:
            if not isinstance(path, str | Path):
                raise ArgumentError(
                    "path is a folder, or None for a collection in memory, and data "
                    f"come second: create(None, data); got {a_kind(path)} as path"
                )
            path = Path(path)
            _folder.check_target(path, overwrite=overwrite)
        check_choice(index, "index", INDEXES)
        check_choice(keep_vectors or "float32", "keep_vectors", FORMS)
        model: Model | None = None
        if encoder is not None:
            model = _making.reused_model(_source(encoder), learner, bits, backbone)
        if schema is not None:
            if data is not None or codes is not None:
                raise ArgumentError("give data, or a schema in their place, not both")
            if model is None:
                raise ArgumentError("a schema needs an encoder: give encoder=")
            source = _making.rows_of_schema(
                model, schema, column=column, images=images, label=label, id=id
            )
        else:
            source = _making.read_rows(
                data,
                column=column,
                images=images,
                codes=codes,
                id=id,
                ids=ids,
                label=label,
                columns=columns,
                skip_blank=skip_blank,
                skip_unreadable=skip_unreadable,
                model=model,
                types=types,
            )
        if model is None:
            model = _making.learn_model(
                source,
                learner,
                bits,
                backbone,
                random_state,
                progress,
                normalize=normalize,
            )
        elif normalize:
            kind = source.kind if schema is None else model.kind
            _making.check_vectors_only(kind, source.source)
            model = replace(model, facts=replace(model.facts, normalize=True))
        chosen = {"index": index, "keep_vectors": keep_vectors}
        model, table = _making.first_rows(model, source, chosen, progress)
        collection = cls(Version(model), None)
        collection._replace(model, [table], path, overwrite=overwrite)
        return collection

    @classmethod
    def from_learner(
        cls,
        learner: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        backbone: str | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Return a collection without rows of a learner that you have fitted yourself.

        As from `fit`, a deep learner's collection also classifies and rejects.

        Parameters
        ----------
        learner : Learner
            After ``fit(X, y)``.
        X : array-like of shape (n, ...)
            Training data of the learner: features, or items for its own backbone.
        y : array-like of shape (n,) or (n, n_labels), default=None
            Training labels of the learner; deep learners need them.
        backbone : str, default=None
            Id of the backbone that extracts the features, None where the collection is
            to take features. For a network that was trained along, the id that
            `fewbits.learners.deep.export_backbone` returned.
        groups : array-like of shape (n,), default=None
            As in `fit`.

        Raises
        ------
        ArgumentError
            When labels or a backbone are missing, or not those of the learner.
        NotFittedError
            When the learner is not fitted.

        Examples
        --------
        >>> import fewbits
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(80, 8))
        >>> fewbits.Collection.from_learner(fewbits.ITQ(8, random_state=0).fit(X), X)
        Collection(LinearEncoder(8 -> 8 bits), 0 items)
        """
        from fewbits.training import of_fitted

        learnt = of_fitted(learner, X, y, backbone=backbone, groups=groups)
        return cls(Version(_making.model_of(learnt)), None)

    @classmethod
    def from_parts(
        cls,
        encoder: Encoder,
        *,
        backbone: str | None = None,
        codebook: Codebook | None = None,
        calibration: Calibration | None = None,
        rejection: Rejection | None = None,
    ) -> Self:
        """Return a collection without rows of parts that were learnt elsewhere.

        They are the properties of these names. Parts of other lengths, and a
        calibration without a codebook, are refused.
        """
        model = _making.reused_model(encoder, None, None, backbone)
        model = replace(
            model, codebook=codebook, calibration=calibration, rejection=rejection
        )
        return cls(Version(model), None)

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Open a collection; its rows are memory-mapped, and read when asked for.

        Raises
        ------
        ArtefactError
            When the folder is no collection, or a file of its encoder or classes is
            missing or damaged.
        """
        folder = Path(path)

        def version() -> Version:
            model, store, digest = _folder.read_folder(folder)
            rows = None if store is None else Rows(store)
            if rows and rows.snapshot.fingerprint != model.encoder.fingerprint:
                raise ArtefactError(f"the rows of {folder} are of another encoder")
            return Version(model, rows, digest)

        return cls(_folder.settled(folder, version), folder.absolute())

    def save(self, path: Path | str, *, overwrite: bool = False) -> None:
        """Write this version to another folder, without what is deleted.

        A crash leaves what was there, or the new one. What is refused, unless it is to
        `overwrite`, is as in `create`. `backup` takes files as they are.
        """
        path, version = Path(path), self._version
        if self._folder is not None and path.resolve() == self._folder.resolve():
            newest = _folder.folder_state(self._folder)
            if self._is_frozen and _state(version) != newest:
                raise ArgumentError(
                    f"version {self.version} is not the newest of {path}: save it to "
                    "another folder"
                )
            return  # it is there already
        _folder.check_target(path, overwrite=overwrite)
        copy = type(self)(Version(version.model, None), None)
        rows = version.rows
        tables = None if rows is None else rows.whole()
        copy._replace(version.model, tables, path, overwrite=overwrite, before=rows)

    # Searching.

    def search(
        self,
        queries: Items = None,
        k: int | None = None,
        *,
        texts: Items = None,
        vectors: Vectors = None,
        images: Items = None,
        ids: Ids = None,
        codes: Codes = None,
        radius: int | None = None,
        filter: Filter = None,
        allowed: Ids = None,
        group_by: str | None = None,
        rerank: bool | None = None,
        shortlist: int | None = None,
        columns: Names | None = None,
    ) -> Hits:
        """Return the nearest items of each query.

        Parameters
        ----------
        queries : sequence, or array-like of shape (n, n_features), default=None
            What the collection was made of: texts, images or vectors. Or give one of
            `texts`, `vectors`, `images`, `ids` and `codes`; exactly one of the six.
        k : int, default=None
            Items for each query: 10, or within a `radius` all there are.
        texts, images : sequence, default=None
        vectors : array-like of shape (n, n_features), default=None
            Features, which no backbone has to make.
        ids : array-like of int or str, default=None
            Items of the collection; each is left out of its own answer.
        codes : array-like of shape (n, n_bytes), dtype uint8, default=None
            Packed codes, as `encode` returns them.
        radius : int, default=None
            Only items within this Hamming distance.
        filter : str or pyarrow.compute.Expression, default=None
            A condition that items meet, about the columns, as
            ``"category = 'x' and year >= 2020"``, the ids, by the name of their column
            or as ``id``, and the bits, as ``"bit(12) = 1"``: see
            `fewbits.collection.filters.matching_rows`. All `k` are found where there
            are as many such items.
        allowed : array-like, default=None
            Ids of the items that may be hits, or a mask of booleans over all items.
        group_by : str, default=None
            A column, such as the document of a passage: find the best item of each of
            `k` groups. Items without a value are one group.
        rerank : bool, default=None
            Re-rank a Hamming shortlist. None does so by kept vectors where there are
            any; True by these, or else by the scores of the query; False never does.
        shortlist : int, default=None
            How many codes are re-ranked: 100, or ten times `k`. With float vectors
            and a shortlist of all items, answers are exact.
        columns : sequence of str, default=None
            Columns that hits have; None for all. The ids, which every hit has, may be
            among them, by the name of their column or as ``id``.

        Returns
        -------
        Hits
            ``ids`` and ``distances`` of shape (n, k), nearest first, ties in the order
            in which items were added; `k` is at most the number of items.

        Raises
        ------
        ArgumentError
            When not exactly one kind of query is given, a number is out of range, a
            condition cannot be read, or a column or an id is not there.
        FeatureError, CodeError
            When queries are not what the collection takes.
        """
        version = self._version
        rows, model = version.checked_rows(), version.model
        query = Query.one_of(model, rows, queries, texts, vectors, images, ids, codes)
        names = rows.column_names(columns, version.id_name)
        mask = version.mask(filter, allowed)
        most = max(1, len(rows))  # more is not padded: asking for it costs nothing
        k = None if k is None else min(check_k(k), most)
        if radius is not None:
            ranking = {"rerank": rerank, "shortlist": shortlist, "group_by": group_by}
            for name, value in ranking.items():
                if value not in (None, False):
                    raise ArgumentError(f"{name} cannot be combined with radius")
            search = Search(query, "hamming", None, mask)
            distances, hits = search.within(check_radius(radius), k)
        else:
            k = min(10, most) if k is None else k
            metric = metric_of(query, rerank, shortlist)
            search = Search(query, metric, shortlist, mask)
            if group_by is None:
                distances, hits = search.nearest(k)
            elif group_by in (ID, version.id_name) and group_by not in rows.columns:
                raise ArgumentError(
                    f"items cannot be grouped by {group_by!r}, their ids: each would "
                    "be a group of its own"
                )
            else:
                distances, hits = search.nearest_by_group(group_by, k)
        far, limit = None, model.facts.novelty_radius
        # The limit is in bits, and holds for the nearest of all items.
        of_all = radius is None and mask is None and search.metric == "hamming"
        if limit is not None and of_all and hits.shape[1]:
            far = (distances[:, 0] > limit) & (hits[:, 0] >= 0)
        return version.hits(distances, hits, search.metric, names, far)

    def like(
        self,
        good: Items = (),
        bad: Items = (),
        *,
        good_ids: Ids = (),
        bad_ids: Ids = (),
        k: int = 10,
        filter: Filter = None,
        allowed: Ids = None,
        columns: Names | None = None,
        n_random: int = N_RANDOM,
        C: float = COST,
        random_state: int = 0,
    ) -> Hits:
        """Rank the items by how well they fit a class that a few examples define.

        The class need not be one that the encoder was trained on: a linear SVM on bits
        is learnt on the spot.

        Parameters
        ----------
        good, bad : sequence, or array-like of shape (n, n_features), default=()
            Items that belong to the class, and that do not.
        good_ids, bad_ids : array-like of int or str, default=()
            Items of the collection that do, or do not. The answer is without them, and
            without examples that are items of the collection.
        k, filter, allowed, columns
            As in `search`.
        n_random : int, default=1000
            Random items of the collection that stand for everything else.
        C : float, default=100
            Weight of the errors for one example.
        random_state : int, default=0
            Seeds the choice of random items and the solver.

        Returns
        -------
        Hits
            For one query, best first: ``metric`` is ``"margin"``, and a distance below
            0 is of an item that the model takes for a member.

        Raises
        ------
        ArgumentError
            When there is no example, an id is not there, or an item is on both sides.

        Examples
        --------
        >>> import numpy as np
        >>> import fewbits
        >>> X = np.repeat(np.eye(4), 25, axis=0)  # 4 classes of 25 items
        >>> from fewbits.learners import LSH
        >>> encoder = LSH(64, random_state=0).fit(X).encoder_
        >>> col = fewbits.Collection.create(None, X, encoder=encoder)
        >>> col.like(good_ids=[50, 51], k=3).ids
        array([[52, 53, 54]])
        """
        version = self._version
        rows = version.checked_rows()
        names = rows.column_names(columns, version.id_name)
        distances, hits = rank_by_examples(
            version.model,
            rows,
            good,
            bad,
            k,
            good_ids=good_ids,
            bad_ids=bad_ids,
            n_random=n_random,
            C=C,
            random_state=random_state,
            mask=version.mask(filter, allowed),
        )
        return version.hits(distances[None], hits[None], "margin", names)

    def classify(
        self,
        items: Items = None,
        *,
        texts: Items = None,
        vectors: Vectors = None,
        images: Items = None,
        ids: Ids = None,
        codes: Codes = None,
        label: str | None = None,
        k: int | None = None,
        linear: bool = False,
        decoder: Any = None,
        max_false_reject_rate: float | None = None,
        max_false_accept_rate: float | None = None,
        top: int | None = None,
    ) -> Classification:
        """Return the class of each item: by class codes, or by items of the collection.

        Parameters
        ----------
        items, texts, vectors, images, ids, codes
            As in `search`. Items of the collection have no vote on themselves.
        label : str, default=None
            A column of the collection with classes, by which its nearest items vote;
            those without a label have no vote. None decodes the class codes that were
            learnt.
        k : int, default=None
            Items that vote: 10.
        linear : bool, default=False
            With `label`, learn linear models on bits in place of votes.
        decoder : Decoder or str, default=None
            Of class codes: one of `fewbits.classify.decoders`, such as
            ``Bounded(radius=2)``, or its short name; ``"soft"``, the most probable
            class, when not given, or ``"nearest"`` where only codes are known.
        max_false_reject_rate : float, default=None
            Reject items of unknown classes, such that at most this share of known items
            is rejected.
        max_false_accept_rate : float, default=None
            In place of `max_false_reject_rate`: at most this share of the items of new
            classes is accepted.
        top : int, default=None
            How many of the most probable classes to add: 3 where probabilities are
            calibrated, and none otherwise. Of items with several labels, how many
            labels to rank: 5.

        Raises
        ------
        ArgumentError
            When there are neither class codes nor a `label`, options do not go
            together, or the collection cannot reject at this rate.
        """
        model, rows = self._version.model, self._version.rows
        query = Query.one_of(model, rows, items, texts, vectors, images, ids, codes)
        return classify(
            query,
            label=label,
            k=k,
            linear=linear,
            decoder=decoder,
            max_false_reject_rate=max_false_reject_rate,
            max_false_accept_rate=max_false_accept_rate,
            top=top,
        )

    def duplicates(
        self,
        radius: int,
        *,
        max_vector_distance: float | None = None,
        filter: Filter = None,
        allowed: Ids = None,
    ) -> Duplicates:
        """Return the pairs and groups of items whose codes differ in few bits.

        Nothing is computed yet: iterate over the answer for all pairs, each once, in
        blocks that fit in memory; or ask for its ``groups()``.

        Parameters
        ----------
        radius : int
            Bits that may differ; 0 finds items of the same code.
        max_vector_distance : float, default=None
            Confirm each pair by the kept vectors: their Euclidean distance is at most
            this.
        filter, allowed : default=None
            Look at these items only, as in `search`.

        Raises
        ------
        ArgumentError
            When no vectors are kept to confirm by, or as in `search`.

        Examples
        --------
        >>> import numpy as np
        >>> import fewbits
        >>> codes = np.array([[0], [7], [1], [7]], np.uint8)
        >>> col = fewbits.Collection.create(None, codes=codes)
        >>> [pairs.ids.tolist() for pairs in col.duplicates(radius=1)]
        [[[0, 2], [1, 3]]]
        """
        version = self._version
        rows, mask = version.checked_rows(), version.mask(filter, allowed)
        index = rows.index(version.model.facts.index or "auto")
        return Duplicates(rows, index, radius, max_vector_distance, mask)

    def recall(
        self,
        k: int = 10,
        *,
        queries: Items = None,
        vectors: Vectors = None,
        n_queries: int | None = None,
        shortlist: int | None = None,
        confidence: float = 0.95,
        random_state: Any = 0,
        progress: Progress | None = None,
    ) -> tuple[RecallEstimate, ...]:
        """Estimate the recall of each way to search, with a confidence interval.

        The truth is the `k` nearest vectors by Euclidean distance, found exactly. The
        best queries are held-out ones, that the encoder was not fitted to: without any,
        items of the collection are drawn, and each is left out of its own answers.

        Parameters
        ----------
        k : int, default=10
            Fewer than there are items.
        queries : sequence, or array-like of shape (n, n_features), default=None
            Held-out items.
        vectors : array-like of shape (n_items, n_features), default=None
            The vector of each item, in their order; None takes those that were kept.
        n_queries : int, default=None
            How many are drawn; None asks all of the `queries`, or 1,000 items.
        shortlist : int, default=None
            As in `search`.
        confidence : float, default=0.95
            Share of samples whose interval contains the recall over all queries.
        random_state : int or Generator, default=0
            Draws the queries.
        progress : callable, default=None
            Called with (items compared, items in all).

        Returns
        -------
        tuple of RecallEstimate
            For the codes alone ("hamming"), for a shortlist re-ranked by scores
            ("scores") and, where vectors are kept, by these ("euclidean").

        Raises
        ------
        ArgumentError
            When the collection keeps no vectors and none are given, they are not those
            of its items, or a number is out of range.

        Examples
        --------
        >>> import numpy as np
        >>> import fewbits
        >>> X = np.random.default_rng(0).normal(size=(1000, 8))
        >>> col = fewbits.Collection.create(None, X[100:], bits=8, keep_vectors="int8")
        >>> [estimate.search for estimate in col.recall(k=5, queries=X[:100])]
        ['hamming', 'scores', 'euclidean']
        """
        version = self._version
        return estimate_recall(
            version.model,
            version.checked_rows(),
            k,
            queries=queries,
            vectors=vectors,
            n_queries=n_queries,
            shortlist=shortlist,
            confidence=confidence,
            random_state=random_state,
            progress=progress,
        )

    def encode(
        self,
        items: Items = None,
        *,
        texts: Items = None,
        vectors: Vectors = None,
        images: Items = None,
        ids: Ids = None,
        codes: Codes = None,
        progress: Progress | None = None,
    ) -> CodeArray:
        """Return the packed codes (n, ceil(n_bits / 8)) of items, uint8.

        Items are given as to `search`; those of the collection have their stored codes.
        """
        version, values = self._version, (items, texts, vectors, images, ids, codes)
        query = Query.one_of(version.model, version.rows, *values, progress=progress)
        return query.codes

    def features(
        self, items: Items, *, progress: Progress | None = None
    ) -> NDArray[Any]:
        """Return what the backbone makes of items (n, n_features); vectors as they are.

        Items of another kind than the collection takes are refused. Features of several
        image files are kept in the folder ``FEWBITS_CACHE``, or in the user's cache
        folder, see `fewbits.backbones.features`.
        """
        return self._version.model.features(items, progress=progress)

    # Changing.

    def add(
        self,
        data: Data = None,
        *,
        column: Names | str | None = None,
        images: str | None = None,
        codes: Codes | str | None = None,
        id: str | None = None,
        ids: Ids = None,
        label: str | None = None,
        columns: Columns | None = None,
        skip_blank: bool = False,
        skip_unreadable: bool = False,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Add items whose ids are new; return how many.

        Parameters
        ----------
        data, column, images, codes, id, ids, label, columns, skip_blank, \
skip_unreadable, progress
            As in `create`. Where they are not given, columns have the names that they
            had there. Columns are those of the collection: where rows lack one, they
            get null, with a warning, and others are left out with one; items and labels
            are required. Ids are in the column that had them there, or in one called
            ``id`` that the collection lacks; without any they are numbers, which
            continue from the largest.
        timeout : float, default=None
            Seconds to wait while another process writes to the folder; None waits as
            long as it takes.

        Raises
        ------
        ArgumentError
            When an id is there already, or a column is of another type, or missing and
            may not be null. Then nothing is added.
        LockedError
            When another process writes for longer than `timeout`.
        """
        source = self._read(
            data,
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
        return self._append(source, "add", timeout, progress)

    def upsert(
        self,
        data: Data = None,
        *,
        column: Names | str | None = None,
        images: str | None = None,
        codes: Codes | str | None = None,
        id: str | None = None,
        ids: Ids = None,
        label: str | None = None,
        columns: Columns | None = None,
        skip_blank: bool = False,
        skip_unreadable: bool = False,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Add items, in place of those with the same ids; return how many.

        As `add`, but ids and all columns are required: null would overwrite values.
        """
        source = self._read(
            data,
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
        return self._append(source, "upsert", timeout, progress)

    def update(
        self,
        data: Data = None,
        *,
        id: str | None = None,
        ids: Ids = None,
        columns: Columns | None = None,
        filter: Filter = None,
        timeout: float | None = None,
    ) -> int:
        """Change columns of items, whose codes and order stay; return how many.

        A column that the collection lacks is added to it, null for all other items,
        with a warning; one that is null in all rows takes the type of its first values.
        A row, of a list or of JSON, that does not name a column keeps its value there.

        Parameters
        ----------
        data : table, list of rows with names, str, Path or None
            Ids and the columns to change, or the file of a table; None with `ids` and a
            mapping of `columns`. With a `filter`, one row without an id, such as
            ``{"year": 2026}``; all items that meet it get its values. All else is as in
            `add` and `search`.

        Raises
        ------
        ArgumentError
            When an id is not there or repeats, or a column is of another type.
        """
        version = self._version
        model, rows = version.model, version.checked_rows()
        schema = self._schema(version)
        by_names: Mapping[frozenset[str], list[int]] = {}
        if filter is None:
            table, by_names = _making.update_table(
                model, rows, schema, data, id, ids, columns
            )
        else:
            id_name = version.id_name
            row = _making.constant_columns(schema, id_name, data, ids, columns)
        del version, rows  # so that files of this version go when it is left
        with self._writing(timeout) as writer:
            if filter is not None:
                keys = self._matching(writer, filter)
                first = np.zeros(len(keys), np.int64)
                values = {name: column.take(first) for name, column in row.items()}
                rows = self._version.checked_rows()
                table, _ = _making.update_table(
                    model, rows, schema, None, None, keys, values
                )
                del rows
            keys = table[ID].combine_chunks()
            check_known(keys, writer.holds(keys))
            schema, table = _making.typed_update(writer.manifest.schema, table)
            writer.retype(schema)
            for names, positions in by_names.items():
                named = [x for x in table.column_names if x in names and x != ID]
                writer.update(table.select([ID, *named]).take(positions))
            if not by_names:
                writer.update(table)
        return int(table.num_rows)

    def delete(
        self,
        ids: Ids = None,
        *,
        filter: Filter = None,
        missing_ok: bool = False,
        timeout: float | None = None,
    ) -> int:
        """Delete items, by their ids, by a condition, or by both; return how many.

        A `filter` is as in `search`; with `ids`, it says which of these. `missing_ok`
        passes over ids that are not there; `timeout` is as in `add`.

        Raises
        ------
        ArgumentError
            When neither is given, an id is not there, or the condition cannot be read.
        """
        if ids is None and filter is None:
            raise ArgumentError("delete needs ids or a filter")
        with self._writing(timeout) as writer:
            keys = None
            if ids is not None:
                keys = id_column(ids, self.has_text_ids)
                paths = absolute_paths(keys, writer.holds(keys))
                is_there = writer.holds(paths)
                if not missing_ok:
                    check_known(keys, is_there)
                keys = filtered(paths, is_there)
            if filter is not None:
                keys = self._matching(writer, filter, keys)
            return int(writer.delete(keys))

    def drop_columns(self, columns: Names, *, timeout: float | None = None) -> None:
        """Drop columns; codes and order stay.

        Their space on the disk is freed by `compact`, or once the rows are rewritten. A
        later column of the same name is null in the rows that were there before it.

        Parameters
        ----------
        columns : sequence of str
        timeout : float, default=None
            As in `add`.

        Raises
        ------
        ArgumentError
            When a column is not there, or has the ids, texts or images; none is dropped
            then.
        """
        with self._writing(timeout) as writer:
            schema = writer.manifest.schema
            names = _making.droppable(self.facts, self.id_name, schema, columns)
            writer.drop(names)

    @contextmanager
    def transaction(self, *, timeout: float | None = None) -> Iterator[Self]:
        """Make the changes in a ``with`` block one commit: all of them, or none.

        Others see them at once when the block ends. An error in it, or a crash, leaves
        everything as it was. Each change sees those before it; searches and other
        reading, through this handle too, see what there was before the block. Other
        changes wait for it. `timeout` is as in `add`; those of the changes in the block
        do not count.

        Raises
        ------
        ArgumentError
            When a transaction is open already, or the collection holds no rows yet; in
            the block, for what is no change of rows, such as `compact`.

        Examples
        --------
        >>> import fewbits
        >>> col = fewbits.Collection.create(None, ["red hat", "blue shoe"], bits=2)
        >>> with col.transaction():
        ...     n_added = col.add(["warm scarf", "blue hat"])
        ...     n_deleted = col.delete([1])
        >>> list(col)
        [0, 2, 3]
        """
        with self._outside_transaction(), self._writing(timeout) as writer:
            self._writer = writer
            try:
                yield self
            finally:
                self._writer = None

    # Reading.

    def __len__(self) -> int:
        rows = self._version.rows
        return 0 if rows is None else len(rows)

    def get(self, ids: Ids, columns: Names | None = None) -> list[dict[str, Any]]:
        """Return the columns of items, a dict for each id.

        Ids and columns that are not there are refused.
        """
        rows = self._version.checked_rows()
        names = rows.column_names(columns, self.id_name)
        numbers = rows.rows_of(ids)
        if not names:
            return [{} for _ in numbers]
        return python_rows(rows.table_at(numbers, names))

    def __getitem__(self, id: Any) -> dict[str, Any]:
        if isinstance(id, slice) or (isinstance(id, str) and not self.has_text_ids):
            raise ArgumentError(
                f"col[id] is one item by its id, got {id!r}; a column is column(name), "
                "several items are get(ids)"
            )
        return self.get([id])[0]

    def __iter__(self) -> Iterator[Any]:
        """Yield the ids, in the order in which items were added."""
        return iter(self.ids.tolist())

    def __contains__(self, id: Any) -> bool:
        rows = self._version.rows
        return rows is not None and bool(
            rows.find(id_column([id], rows.has_text_ids)) >= 0
        )

    def batches(
        self, columns: Names | None = None, *, filter: Filter = None
    ) -> Iterator[Table]:
        """Return Arrow tables of ids and columns, in the order of the items.

        `columns` and `filter` are as in `search`.
        """
        version = self._version
        rows, mask = version.checked_rows(), version.mask(filter)
        names = rows.column_names(columns, version.id_name)
        return rows.batches(names, version.id_name, mask)

    def to_arrow(self, columns: Names | None = None, *, filter: Filter = None) -> Table:
        """Return ids and columns as one Arrow table; arguments are as in `batches`."""
        import pyarrow as pa

        version = self._version
        rows, mask = version.checked_rows(), version.mask(filter)
        names = rows.column_names(columns, version.id_name)
        schema = version.schema(names)
        tables = [*rows.batches(names, version.id_name, mask)]
        return pa.concat_tables(tables).cast(schema) if tables else schema.empty_table()

    def to_pandas(self, columns: Names | None = None, *, filter: Filter = None) -> Any:
        """Return `to_arrow` as a data frame of pandas, which must be installed."""
        return as_pandas(self.to_arrow(columns, filter=filter))

    def column(self, name: str, positions: IdArray | None = None) -> NDArray[Any]:
        """Return a column as an array of objects, of all items or of some.

        `positions` are of items, in their order from 0 on. A column that is not there
        is refused.
        """
        rows = self._version.checked_rows()
        numbers = None if positions is None else rows.row_numbers[positions]
        return rows.column(name, numbers)

    def labels(self, name: str) -> NDArray[Any]:
        """Return a column of classes, or a row for each item that has several labels.

        A column that holds no labels is refused.
        """
        return label_rows(self._version.checked_rows(), name)

    @property
    def ids(self) -> NDArray[Any]:
        """Ids in the order of the items: int64, or objects that are texts."""
        return self._version.checked_rows().ids

    @property
    def codes(self) -> CodeArray:
        """Codes (n, n_bytes) in that order, read-only; mapped, where they lie so."""
        return self._version.checked_rows().codes

    @property
    def vectors(self) -> NDArray[Any] | None:
        """Kept vectors (n, n_features) in that order as floats; None without any."""
        rows = self._version.checked_rows()
        return None if rows.vector_dtype is None else rows.vectors_at(rows.row_numbers)

    @property
    def columns(self) -> list[str]:
        """Names of the columns, without the ids."""
        rows = self._version.rows
        return [] if rows is None else list(rows.columns)

    @property
    def schema(self) -> Schema:
        """Arrow's schema of `to_arrow`."""
        version = self._version
        return version.schema(version.checked_rows().columns)

    @property
    def id_name(self) -> str:
        """Name of the ids in `to_arrow`: that of their column, or "id"."""
        return self._version.id_name

    @property
    def has_text_ids(self) -> bool:
        """True if ids are texts, False if they are whole numbers."""
        rows = self._version.rows
        return rows is not None and rows.has_text_ids

    # Versions.

    @property
    def version(self) -> int:
        """Number of the version that this handle has; it rises with every change."""
        return self._version.number

    def versions(self) -> list[int]:
        """Return the versions that can still be read by `at`, the newest last.

        A version stays while it has a name, see `tag`, and as long as a handle, here or
        in another process, uses it. Of the others, at most the last three commits can
        be read, while their files are still there.
        """
        rows = self._version.rows
        return [] if rows is None else list(rows.store.numbers())

    def tag(self, name: str, version: int | None = None) -> int:
        """Name a version, which then stays until `untag`, whatever becomes of others.

        Parameters
        ----------
        name : str
            Not a number.
        version : int, default=None
            One of `versions`; that of this handle when not given.

        Returns
        -------
        int
            The version that has the name. Naming is a commit: where the newest version
            is named, this is the one that the commit makes, of the same rows.

        Raises
        ------
        ArgumentError
            When the name is taken, or the version is gone.

        Examples
        --------
        >>> import fewbits
        >>> col = fewbits.Collection.create(None, ["red hat", "blue shoe"], bits=2)
        >>> _ = col.tag("spring")
        >>> _ = col.delete([0])
        >>> len(col), len(col.at("spring")), list(col.tags())
        (1, 2, ['spring'])
        """
        is_text = isinstance(name, str) and name.strip() == name != ""
        if not is_text or name.isdecimal():
            raise ArgumentError(
                "the name of a version must be a string, other than a number and "
                f"without spaces around it, got {name!r}"
            )
        number = self.version if version is None else check_count(version, "version", 0)
        with self._outside_transaction(), self._writing(None) as writer:
            tags = writer.manifest.tags
            if name in tags:
                raise ArgumentError(
                    f"{name!r} is the name of version {tags[name]}: untag it first"
                )
            self._check_there(number)
            if number == writer.manifest.number:
                number += 1  # that of this commit, which has the same rows
            writer.tag({**tags, name: number})
        return number

    def untag(self, name: str) -> None:
        """Remove a name; its version then goes as those without a name do."""
        with self._outside_transaction(), self._writing(None) as writer:
            tags = dict(writer.manifest.tags)
            _number_of(tags, name)
            del tags[name]
            writer.tag(tags)

    def tags(self) -> dict[str, int]:
        """Return the names of versions, with their numbers."""
        rows = self._version.rows
        return {} if rows is None else rows.store.tags()

    def tag_times(self) -> dict[str, datetime]:
        """Return when versions got their names, in UTC, as far as this is known."""
        rows = self._version.rows
        return {} if rows is None else rows.store.tag_times()

    def at(self, version: int | str) -> Collection:
        """Return the collection as it was at a version, or at one of this name.

        It can only be read, and stays on the disk as long as it is used. A version that
        is gone, and a name that none has, are refused.
        """
        if isinstance(version, str):
            version = _number_of(self.tags(), version)
        if check_count(version, "version", 0) == self.version:
            return self.frozen()
        newest = self._version
        rows = newest.checked_rows()
        self._check_there(version)
        snapshot = rows.store.snapshot(version)
        earlier = replace(newest, rows=Rows(rows.store, snapshot, rows))
        return Collection(earlier, self._folder, frozen=True)

    def restore(self, version: int | str, *, timeout: float | None = None) -> int:
        """Return to an earlier version: commit its rows and columns as the newest.

        No row is rewritten. Later changes are lost unless the newest version has a
        name: `tag` gives it one.

        Parameters
        ----------
        version : int or str
            As in `at`.
        timeout : float, default=None
            As in `add`.

        Returns
        -------
        int
            Number of the new version; where nothing differs, of the newest.

        Raises
        ------
        ArgumentError
            When the version is gone, or none has this name.

        Examples
        --------
        >>> import fewbits
        >>> col = fewbits.Collection.create(None, ["red hat", "blue shoe"], bits=16)
        >>> _ = col.tag("spring")
        >>> _ = col.delete([0])
        >>> col.restore("spring") == col.version > col.tags()["spring"]
        True
        >>> list(col)
        [0, 1]
        """
        with self._outside_transaction(), self._writing(timeout) as writer:
            if isinstance(version, str):
                version = _number_of(writer.manifest.tags, version)
            number = check_count(version, "version", 0)
            self._check_there(number)
            writer.restore(number)
        return self.version

    def frozen(self) -> Collection:
        """Return the version that this handle has, to be read only."""
        return Collection(self._version, self._folder, frozen=True)

    def refresh(self) -> bool:
        """Take over changes of other handles and processes; return whether any came.

        A version that can only be read stays what it is.
        """
        if self._is_frozen:
            return False
        with self._change():
            rows, newest = self._version.rows, -1
            if self._folder is not None:
                digest, newest = _folder.folder_state(self._folder)
                if digest != self._version.digest:
                    self._version = self.open(self._folder)._version
                    return True
            elif rows is not None:
                newest = rows.store.newest()
            if rows is None or rows.snapshot.number == newest:
                return False
            self._version = replace(self._version, rows=Rows(rows.store, before=rows))
            return True

    # Keeping it well.

    def compact(self, *, timeout: float | None = None) -> None:
        """Remove deleted rows and old values, merge segments, and write search tables.

        Segments become as few as may be. This happens by itself while rows come and go,
        so that a folder is at most twice its live rows and those of versions that have
        names. Then tables of multi-index hashing are written where they find neighbours
        faster, unless the index is ``"flat"``, and remains of a save that was killed
        are removed. `timeout` is as in `add`.
        """
        with self._outside_transaction():
            with self._writing(timeout) as writer:
                writer.compact()
                keep_tables(writer, self.facts.index or "auto")
            if self._folder is not None:
                _folder.remove_unnamed(self._folder)

    def verify(self, *, rows: bool = True, record: bool = True) -> Report:
        """Verify its folder, see `verify_folder`; in memory it has none to verify."""
        return self.verify_folder(self._on_disk(), rows=rows, record=record)

    def repair(self, *, drop_rows: bool = False) -> RepairReport:
        """Repair its folder, see `repair_folder`, and take over what is there then."""
        folder = self._on_disk()
        with self._outside_transaction():
            report = self.repair_folder(folder, drop_rows=drop_rows)
        self.refresh()
        return report

    @staticmethod
    def verify_folder(
        path: Path | str, *, rows: bool = True, record: bool = True
    ) -> Report:
        """Read every byte of a folder, and report what is damaged.

        Parameters
        ----------
        path : str or Path
            Of a collection, however damaged it is.
        rows : bool, default=True
            False looks at the encoder and the classes alone, and keeps nothing.
        record : bool, default=True
            Keep the result in the folder, if it can be written to, for `last_verified`.

        Raises
        ------
        ArtefactError
            When the folder is no collection.
        """
        with _folder.naming_folder(Path(path)):
            return _verification.verify_files(path, rows=rows, record=record).report

    @classmethod
    def repair_folder(
        cls, path: Path | str, *, drop_rows: bool = False, encoder: Any = None
    ) -> RepairReport:
        """Put back what a checksum proves, and report what is left.

        A flipped bit is put back, and derived files are made again. Only what fails its
        checksum is dropped.

        Parameters
        ----------
        path : str or Path
            Of a collection, however damaged it is.
        drop_rows : bool, default=False
            Drop what cannot be restored: segments with damaged rows or vectors, damaged
            updates (the values before return), and a damaged newest manifest (an older
            version returns). Their files stay beside the others, under names that
            begin with ``damaged-``.
        encoder : Encoder, Collection, str or Path, default=None
            In the place of one whose file is damaged; rows are encoded anew from their
            kept vectors, as by `reencode`.

        Raises
        ------
        ArtefactError
            When the folder holds nothing to repair, or nothing of it can be read.
        """
        report = _verification.repair_files(path, drop_rows=drop_rows)
        if encoder is not None:
            folder = Path(path).absolute()
            other = _making.encoder_model(_source(encoder))
            model, store, digest = _folder.read_folder(folder, other.encoder)
            if store is None:
                raise ArtefactError(f"{folder} holds no rows to encode")
            damaged = cls(Version(model, Rows(store), digest), folder)
            damaged._reencode(encoder, None)  # no version can be read without it
        return report

    def last_verified(self) -> _verification.Verification | None:
        """Return what the last `verify` of the folder found; None without any."""
        folder = self._folder
        return None if folder is None else _verification.last_verified(folder)

    def backup(self, path: str | Path) -> None:
        """Make a new folder of this version, while others may change the collection.

        Inside one file system it takes no time and no space: files, which never change,
        are shared by hard links, also those with deleted rows. `save` writes them anew
        without these. A crash leaves no collection there, or the whole.

        Raises
        ------
        ArgumentError
            When the collection is in memory, or another has taken its place.
        ArtefactError
            When the folder holds anything.
        """
        version, folder = self._version, self._on_disk()
        rows = version.rows
        state = None if rows is None else (rows.store, rows.snapshot)
        _folder.backup(folder, Path(path), version.digest, state)

    def reencode(self, encoder: Any, *, progress: Progress | None = None) -> None:
        """Encode the items anew, from their kept vectors, by another encoder.

        Ids, columns, vectors and the order of the items stay. In a folder, encoder and
        codes are replaced in one step. The encoder, given as to `create`, is for the
        features of its backbone, which must be those that were kept.

        Raises
        ------
        ArgumentError
            When no vectors are kept, or those of another backbone or width, or versions
            have names.
        """
        if self._folder is not None:
            _folder.check_writable(self._folder)
        if tags := self.tags():
            raise ArgumentError(
                "versions that have names keep codes of this encoder, and would be "
                f"lost: untag {known_names(tags)}, or save a copy and reencode that"
            )
        self._reencode(encoder, progress)

    def prefix(self, bits: int) -> Collection:
        """Return a collection in memory with the first bits of all codes.

        For codes that were learnt to be nested, as by `fewbits.NeighbourCodes`. What
        holds for the whole length only is left out: the calibration, the threshold of
        label scores, and the novelty radius.
        """
        version = self._version
        model, rows = version.model.prefix(whole_number(bits, "bits")), version.rows
        tables = None
        if rows is not None:
            tables = _making.recoded_tables(rows, model.encoder, is_prefix=True)
        shorter = Collection(Version(model), None)
        shorter._replace(model, tables, None, before=rows)
        return shorter

    def usage(self) -> dict[str, Any]:
        """Return what takes space.

        ``n_dead_rows``, deleted ones that are still there, ``n_segments`` and
        ``n_files`` of the rows on the disk, 0 in memory, and ``bytes`` by what they are
        for, which on the disk sum up to all of them.
        """
        return self._version.checked_rows().usage(self._folder)

    # What it is made of.

    @property
    def path(self) -> Path | None:
        """The folder; None in memory."""
        return self._folder

    @property
    def encoder(self) -> Encoder:
        """The encoder, which maps features to codes."""
        return self._version.model.encoder

    @property
    def kind(self) -> str:
        """What the items are: "texts", "images", "vectors" or "codes"."""
        return self._version.model.kind

    @property
    def backbone(self) -> str | None:
        """Id of the backbone that makes features of the items; None of vectors."""
        return self._version.model.backbone

    @property
    def vector_dtype(self) -> str | None:
        """The dtype of kept vectors: float16, float32 or int8; None without any."""
        rows = self._version.rows
        return None if rows is None else rows.vector_dtype

    @property
    def codebook(self) -> Codebook | None:
        """The codes of classes; None where none were learnt."""
        return self._version.model.codebook

    @property
    def calibration(self) -> Calibration | None:
        """The scale of scores, by which classes have probabilities."""
        return self._version.model.calibration

    @property
    def rejection(self) -> Rejection | None:
        """What rejects items of unknown classes."""
        return self._version.model.rejection

    @property
    def facts(self) -> Facts:
        """How the encoder was learnt, and what the columns are."""
        return self._version.model.facts

    @property
    def item_column(self) -> str | None:
        """The column with texts or paths of images; None of vectors, or if not kept."""
        name = self.facts.item_column
        return name if name in self.columns else None

    @property
    def label_column(self) -> str | None:
        """The column with labels, None where there is none."""
        name = self.facts.label_column or LABEL_COLUMN
        return name if name in self.columns else None

    def summary(self) -> dict[str, Any]:
        """Return what there is to know in a few plain values.

        ``bytes_per_item`` counts an item's code, correction and vector.
        """
        return self._version.summary()

    def __repr__(self) -> str:
        where = "" if self._folder is None else f"{str(self._folder)!r}, "
        return f"Collection({where}{self._version})"

    if not TYPE_CHECKING:  # a type checker reports unknown names itself

        def __getattr__(self, name: str) -> Any:
            for instead, names in _INSTEAD.items():
                if name in names.split():
                    raise AttributeError(f"Collection has no {name}, but {instead}")
            raise AttributeError(f"Collection has no attribute {name!r}")

    def __copy__(self) -> Collection:
        """Return an independent one in memory, or the same folder once more."""
        copy: Collection = deepcopy(self)
        return copy

    def __reduce__(self) -> tuple[Any, ...]:
        version, kind = self._version, type(self)
        rows = version.rows
        number = None if rows is None else rows.snapshot.number
        source: tuple[Any, ...] = self._folder, None, None
        if self._folder is None:
            source = None, version.model, None if rows is None else rows.store.disk
        return _reopened, (kind, *source, number, self._is_frozen)

    # What the methods above share.

    def _schema(self, version: Version) -> Schema:
        """Return the types of columns after the changes of this transaction so far."""
        if self._writer is not None:
            return self._writer.manifest.schema
        return None if version.rows is None else version.rows.schema

    def _read(self, data: Data, types: Any = None, **options: Any) -> Input:
        """Return rows to add, of the kind that the collection takes."""
        version = self._version
        return _making.read_rows(
            data,
            types=types,
            model=version.model,
            rows=version.rows,
            schema=self._schema(version),
            **options,
        )

    def _append(
        self,
        source: Input,
        how: Literal["add", "upsert", "add_missing"],
        timeout: float | None,
        progress: Progress | None,
        chosen: Mapping[str, str] | None = None,
    ) -> int:
        """Add rows; "add_missing", of `fewbits build`, passes over ids that are there.

        `chosen` (index, keep_vectors) applies to a collection without rows, and must
        match that of existing rows.
        """
        chosen = dict(chosen or {})
        with self._change():
            while self._version.rows is None:  # the first, which say what columns are
                model = self._version.model
                model, table = _making.first_rows(model, source, chosen, progress)
                try:
                    self._replace(model, [table], self._folder)
                except _StaleError:  # another process has added the first
                    self.refresh()
                else:
                    return int(table.num_rows)
            model, rows = self._version.model, self._version.checked_rows()
            if chosen:
                _making.check_chosen(chosen, rows, model.facts)
            if source.ids is None and (
                how == "upsert" or rows.has_text_ids or model.facts.id_column
            ):
                raise ArgumentError(
                    "give the ids of the rows, by id= or ids= (on the command line by "
                    "--id)"
                )
            if how == "add_missing" and source.ids is not None:
                # Only the others are encoded.
                keys = id_column(source.ids, rows.has_text_ids)
                is_there = (self._writer or rows).holds(keys)
                source = source.take(np.flatnonzero(~is_there))
                if not len(source):
                    return 0
            table = _making.more_rows(model, rows, source, progress)
            del rows  # so that files of this version go when `_writing` leaves it
            with self._writing(timeout) as writer:
                return _making.append_rows(writer, table, model.facts, source.id, how)

    def _replace(
        self,
        model: Model,
        tables: Iterable[Any] | None,
        folder: Path | None,
        *,
        overwrite: bool = False,
        before: Rows | None = None,
    ) -> None:
        """Give this handle a model and rows, in a folder or in memory.

        Ids that the store of `before` gave are not given again.
        """
        version, here = self._version, self._folder
        in_place = here is not None and folder == here
        rows: Rows | None = None

        def write_rows(name: str) -> Store | None:
            # Nobody else writes now; what others wrote before must not be lost.
            if in_place and _state(version) != _folder.folder_state(str(here)):
                raise _StaleError(
                    f"the collection {here} has been changed by others: call refresh()"
                )
            if tables is None:
                return None
            place = None if folder is None else folder / name
            next_id = 0 if before is None else before.snapshot.manifest.next_id
            number, encoder = self._version.number, model.encoder
            store = _making.new_store(place, tables, encoder, number, next_id)
            nonlocal rows
            rows = Rows(store)  # before others may replace it
            return store

        if folder is None:
            write_rows("rows")
            digest = None
        else:
            folder = folder.absolute()
            digest = _folder.save_folder(
                folder,
                model,
                write_rows,
                overwrite=overwrite or in_place,
                in_place=in_place,
            )
        self._version, self._folder = Version(model, rows, digest), folder

    def _reencode(self, encoder: Source, progress: Progress | None) -> None:
        with self._outside_transaction():
            rows, old = self._version.checked_rows(), self._version.model
            new = _making.reencoding_model(rows, old, _source(encoder))
            tables = _making.recoded_tables(rows, new.encoder, progress)
            self._replace(new, tables, self._folder, before=rows)
            del rows, tables  # which hold the files of the old rows
            if self._folder is not None:
                _folder.remove_unnamed(self._folder)

    def _matching(self, writer: Any, filter: Filter, allowed: Ids = None) -> Any:
        """Return the ids of items that meet a filter, after the changes of a writer."""
        rows, pending = self._version.checked_rows(), writer.pending()
        if pending.manifest != rows.snapshot.manifest:
            rows = Rows(rows.store, pending, rows)
        mask = replace(self._version, rows=rows).mask(filter, allowed)
        return filtered(rows.id_column, mask).combine_chunks()

    def _on_disk(self) -> Path:
        if self._folder is None:
            raise ArgumentError("a collection in memory has no files: save it first")
        return self._folder

    def _check_there(self, version: int) -> None:
        if version not in (versions := self.versions()):
            where = "" if self._folder is None else f" of {self._folder}"
            raise ArgumentError(
                f"version {version}{where} is gone, as no handle and no name kept it, "
                "or was never made; those that can be read are "
                f"{', '.join(map(str, versions))}"
            )

    @contextmanager
    def _writing(self, timeout: float | None) -> Iterator[Any]:
        """Yield the writer of the open transaction, or one for a commit of its own."""
        with self._change():
            if self._writer is not None:
                yield self._writer
                return
            store = self._version.checked_rows().store
            with _folder.writing(store, self._folder, timeout) as writer:
                yield writer
                # Equal where nothing changed: then no version is made. What was
                # committed is held before the writer removes what nobody holds.
                if writer.commit() != self._version.number:
                    rows = Rows(store, writer.snapshot(), self._version.rows)
                    self._version = replace(self._version, rows=rows)

    @contextmanager
    def _outside_transaction(self) -> Iterator[None]:
        """Exclude other changes, and refuse in a transaction."""
        with self._change():
            if self._writer is not None:
                raise ArgumentError(
                    "a transaction is open: it takes add, upsert, update, delete and "
                    "drop_columns"
                )
            yield

    @contextmanager
    def _change(self) -> Iterator[None]:
        """Exclude other changes through this handle, and all of a frozen one."""
        if self._is_frozen:
            raise ArgumentError(
                f"version {self.version} of the collection is read-only: change "
                "the collection itself"
            )
        with self._lock:
            yield


class _StaleError(ArgumentError):
    """The folder has changed since this handle last read it."""


def _state(version: Version) -> tuple[str | None, int]:
    """Return what `folder_state` returns while nobody changes the folder."""
    return version.digest, -1 if version.rows is None else version.number


def _source(encoder: Source) -> Encoder | Model | Path | str:
    """Return an encoder, or the model of a collection."""
    return encoder._version.model if isinstance(encoder, Collection) else encoder


def _number_of(tags: Mapping[str, int], name: str) -> int:
    if name not in tags:
        raise ArgumentError(
            f"no version is named {name!r}; known: {known_names(tags) or 'none'}"
        )
    return tags[name]


def _reopened(
    kind: type[Collection],
    folder: Path | None,
    model: Model | None,
    disk: Any,
    version: int | None,
    frozen: bool,
) -> Collection:
    """Return a collection in another process: of its folder, or of a copy in memory."""
    if folder is None:
        assert model is not None
        store = None if disk is None else Store(disk)
        rows = None if store is None else Rows(store, store.snapshot(version))
        return kind(Version(model, rows), None, frozen=frozen)
    newest = kind.open(folder)
    if frozen and version is None:  # it had no rows
        return kind(Version(newest._version.model, None), folder, frozen=True)
    if version is None or not (frozen or version in newest.versions()):
        return newest
    return kind(newest.at(version)._version, folder, frozen=frozen)
