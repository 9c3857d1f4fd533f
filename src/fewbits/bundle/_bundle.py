"""Encoder, items and backbone that belong together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import backbones, encoders
from fewbits._arrow import as_array, known_names, named_array
from fewbits._checks import check_choice
from fewbits._frozen import ReadOnlyDict
from fewbits._typing import CodeArray
from fewbits.backbones import Backbone
from fewbits.bundle._class_files import (
    check_classes,
    check_same_classes,
    class_files,
    read_classes,
)
from fewbits.bundle._classes import LABEL_THRESHOLD, decode
from fewbits.bundle._examples import (
    N_RANDOM,
    ClassMembers,
    Examples,
    check_apart,
    rank_by_class,
)
from fewbits.bundle._folder import (
    check_target,
    checked_path,
    read_manifest,
    write_folder,
)
from fewbits.bundle._hits import hits_of
from fewbits.bundle._ids import join_ids
from fewbits.bundle._items import LABEL_COLUMN, Items
from fewbits.bundle._kept import KEPT, kept_vectors
from fewbits.bundle._same import same_rows
from fewbits.bundle._selection import ID_COLUMN, selected
from fewbits.classify import Calibration, Codebook, Decoded
from fewbits.codes import as_codes, n_bytes
from fewbits.codes._arguments import check_k
from fewbits.codes._pack import check_unused
from fewbits.encoders import Encoder, PackedEncoder, as_features
from fewbits.errors import ArgumentError, ArtefactError, FeatureError
from fewbits.index import FlatIndex, Neighbours, Ranked
from fewbits.inputs import Input, as_items, check_several
from fewbits.inputs import read as read_input
from fewbits.ood import novelty_radius

Progress = Callable[[int, int], None]
#: Name in `info` of the distance beyond which a query is unknown to the collection.
RADIUS = "novelty_radius"
#: Name in `info` of the columns that vectors lay in side by side.
FEATURE_NAMES = "feature_names"
#: Names in `info` of how `fewbits tune` found that the collection is best searched.
SHORTLIST, KEEP_VECTORS = "shortlist", "keep_vectors"
#: Names in `info` of the columns of the collection that hold raw items and labels.
RAW_COLUMN, LABELS = "raw_column", "label_column"
#: What raw items are called where they were no column of a table.
_RAW_COLUMNS = {"texts": "text", "images": "path"}
#: Names of what holds for codes of one length only.
_OF_LENGTH = (RADIUS, SHORTLIST, LABEL_THRESHOLD)
Columns = Mapping[str, Any]


@dataclass(frozen=True)
class Bundle:
    """A working system: what turns raw items into codes, and a collection of them.

    Parameters
    ----------
    encoder : Encoder
    items : Items, default=None
        The collection; None for a bundle that only encodes.
    backbone : str, default=None
        Id of the backbone that turns raw items into features; None when the items are
        the features.
    backbone_fingerprint : str, default=None
        Fingerprint of the backbone that the encoder was trained with. Queries through
        another one are refused.
    info : mapping, default={}
        How the encoder was learnt: method, parameters, number of training items. Of
        what JSON knows; copied, and never changed: lists become tuples.
    codebook : Codebook, default=None
        The codes of classes, for bundles that classify.
    calibration : Calibration, default=None
        What scores are worth, learnt on items that the encoder was not trained on: with
        it `fewbits.bundle.class_answers` says how probable classes are.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.learners import ITQ
    >>> X = np.random.default_rng(0).normal(size=(100, 16))
    >>> bundle = Bundle(ITQ(n_bits=16, random_state=0).fit(X).encoder_).with_items(X)
    >>> bundle.search(X[:2], k=1).ids
    array([[0],
           [1]])
    """

    encoder: Encoder
    items: Items | None = None
    backbone: str | None = None
    backbone_fingerprint: str | None = None
    info: Mapping[str, Any] = field(default_factory=dict)
    codebook: Codebook | None = None
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "info", ReadOnlyDict(self.info))
        check_classes(self.encoder.n_bits, self.codebook, self.calibration)

    def __getstate__(self) -> dict[str, Any]:
        # The index of a copy is made anew, frozen as well.
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def features(self, items: Any, *, progress: Progress | None = None) -> NDArray[Any]:
        """Return the features of raw items, or check them where they are the features.

        Those of several image files are kept on disk, see `fewbits.backbones.features`:
        in the folder ``FEWBITS_CACHE`` or the user's cache folder, which may be deleted
        at any time.

        Raises
        ------
        ArgumentError
            When one string or path is given in place of a list.
        ArtefactError
            When the backbone on this machine is not the one the encoder was made for.
        FeatureError
            When vectors have another width than the encoder takes, or a data frame has
            other columns than were learnt from, or the same in another order.
        """
        given = self._as_items(items)
        if self.backbone is None:
            return np.asarray(given)
        return backbones.features(self._backbone, given, progress=progress)

    def _as_items(self, items: Any) -> Any:
        """Return raw items as a matrix of features, or as a list of texts or images."""
        if isinstance(self.encoder, PackedEncoder):
            return _checked_codes(items, self.encoder.input_bits)
        if self.backbone is None:
            check_several(items)
            array, names = named_array(items)
            if names is not None:
                self._check_names(names)
            return as_features(array, self.encoder.n_features)
        return as_items(items, self.item_kind)

    def _check_names(self, names: list[str]) -> None:
        """Refuse a data frame whose named columns are not those of the features."""
        learnt = list(self.info.get(FEATURE_NAMES, names))
        if names != learnt:
            how = "other columns than"
            if sorted(names) == sorted(learnt):
                how = "the columns, in another order, that"
            raise FeatureError(
                f"the data frame has {how} the encoder was learnt from; give "
                f"items[list(bundle.info[{FEATURE_NAMES!r}])]"
            )

    def encode(
        self, items: ArrayLike | Sequence[Any], *, progress: Progress | None = None
    ) -> CodeArray:
        """Return the packed codes of raw items.

        Parameters
        ----------
        items : array-like of shape (n, n_features), or sequence
            Vectors, or whatever the backbone takes.
        progress : callable, default=None
            Called with (items done, items in all).

        Returns
        -------
        ndarray of shape (n, ceil(n_bits / 8)), dtype uint8
        """
        return self._encoded(self.features(items, progress=progress), progress)

    def _encoded(self, features: NDArray[Any], progress: Progress | None) -> CodeArray:
        # A backbone has reported already, and takes nearly all of the time.
        report = progress if self.backbone is None else None
        return self.encoder.encode(features, progress=report)

    def with_items(
        self,
        items: Any,
        *,
        vectors: str | Sequence[str] | None = None,
        texts: str | None = None,
        id: str | None = None,
        keep: Sequence[str] | None = None,
        skip_blank: bool = False,
        ids: Any = None,
        columns: Columns | None = None,
        keep_vectors: str | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Return this bundle with a collection made from raw items.

        Parameters
        ----------
        items : array-like of shape (n, n_features), sequence, table or Input
            Vectors, or whatever the backbone takes; or a whole table of pandas, polars
            or pyarrow, with the names below; or what `fewbits.inputs.read` returns.
        vectors, texts : str, default=None
            The column of a table that holds the items; for vectors also several columns
            of numbers. Where only `id` or `keep` is named, the only one that fits is
            taken.
        id : str, default=None
            The column of a table that holds unique ids: whole numbers or texts.
        keep : sequence of str, default=None
            Which other columns of a table stay with the items; None keeps all.
        skip_blank : bool, default=False
            Leave out rows whose text is blank or missing, and warn of it.
        ids : array-like of int or str, default=None
            Ids of items that are no table; 0, 1, 2, ... when not given.
        columns : mapping of str to sequence, default=None
            Kept beside the codes, such as ``{"text": ..., "label": ...}``.
        keep_vectors : {None, "float16", "float32", "int8"}, default=None
            Whether features are kept for exact re-ranking, and how; None keeps them
            where a tuned configuration asks for it.
        progress : callable, default=None
            Called with (items done, items in all).

        Raises
        ------
        ArgumentError
            When an id repeats or is missing, a column is not there, or lengths differ.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from fewbits.encoders import LinearEncoder
        >>> table = pa.table({"sku": ["a", "b"], "v": [[1.0, 2.0], [3.0, -4.0]]})
        >>> bundle = Bundle(LinearEncoder(np.eye(2), np.zeros(2)))
        >>> bundle = bundle.with_items(table, vectors="v", id="sku")
        >>> bundle.search([[1.0, -1.0]], k=1).ids
        array([['b']], dtype=object)
        """
        keep_vectors = keep_vectors or self.info.get(KEEP_VECTORS)
        check_choice(keep_vectors or "float32", "keep_vectors", KEPT)
        if keep_vectors is not None and self.item_kind == "codes":
            raise ArgumentError("codes have no vectors to keep: leave out keep_vectors")
        _check_named(vectors, texts)
        named = vectors if texts is None else texts
        if skip_blank or any(name is not None for name in (named, id, keep)):
            items = read_input(
                items,
                column=named,
                id_column=id,
                keep=True if keep is None else keep,
                names=self.info.get(FEATURE_NAMES, ()),
                skip_blank=skip_blank,
            )
        info = dict(self.info)
        if isinstance(items, Input):
            _check_alone(ids, columns)
            ids, columns = items.ids, items.columns()
            info.pop(ID_COLUMN, None)
            info |= _named_columns(items)
            items = self.checked_kind(items).values
        features = self.features(items, progress=progress)
        made = Items.make(
            self._encoded(features, progress),
            ids=ids,
            columns=columns,
            vectors=kept_vectors(features, keep_vectors),
        )
        return replace(self, info=info)._holding(made)

    def checked_kind(self, source: Input) -> Input:
        """Return what was read, if it is of the kind that this bundle takes.

        Raises
        ------
        ArgumentError
            When it is of another kind.
        FeatureError
            When its numbers lie in other columns than those that were learnt from.
        """
        kind = "vectors" if self.item_kind == "codes" else self.item_kind
        if source.kind != kind:
            raise ArgumentError(
                f"{source.source} holds {source.kind}, but this bundle takes "
                f"{self.item_kind}"
            )
        learnt = self.info.get(FEATURE_NAMES)
        if learnt and source.names and tuple(source.names) != learnt:
            same = set(source.names) == set(learnt)
            how = "in another order than" if same else "not"
            raise FeatureError(
                f"the columns of {source.source} are {how} those that the encoder was "
                f"learnt from, {known_names(learnt)}"
            )
        return source

    def with_codes(
        self,
        codes: CodeArray,
        *,
        ids: Any = None,
        columns: Columns | None = None,
    ) -> Self:
        """Return this bundle with a collection of codes that its encoder made.

        They are copied unless they are a memory map opened for reading.

        Raises
        ------
        CodeError
            When they are not packed, of another width, or have bits beyond the last.
        """
        checked = _checked_codes(codes, self.encoder.n_bits)
        return self._holding(Items.make(checked, ids=ids, columns=columns))

    def with_collection_of(self, other: "Bundle") -> Self:
        """Return this bundle with the items of another, which has the same codes.

        So texts find images, or the other way round: both were learnt by LLC with one
        codebook, see ``fewbits fit --codebook``. What is asked goes through this
        bundle's backbone and encoder; answers are the other's items.

        Parameters
        ----------
        other : Bundle
            Its encoder is the same, or has learnt the same codes of classes. Vectors
            that it keeps are left out, as they are no neighbours of this one's.

        Returns
        -------
        Bundle

        Raises
        ------
        ArgumentError
            When lengths differ, no class is in both codebooks, or one has two codes.
        """
        if self.encoder.fingerprint != other.encoder.fingerprint:
            check_same_classes(self.codebook, other.codebook)
        return self._holding(other.collection.without_vectors())

    def _holding(self, items: Items) -> Self:
        # What was known about another collection says nothing about this one.
        info = {name: x for name, x in self.info.items() if name != RADIUS}
        return replace(self, items=items, info=info)

    def with_novelty_radius(self, groups: ArrayLike) -> Self:
        """Return this bundle with the distance beyond which queries are unknown to it.

        Parameters
        ----------
        groups : array-like of shape (n_items,)
            Fine classes of the items; see `fewbits.ood.novelty_radius`.
        """
        radius = novelty_radius(self.collection.codes, groups)
        return replace(self, info={**self.info, RADIUS: radius})

    def prefix(self, n_bits: int) -> Self:
        """Return this bundle with the first `n_bits` bits of all its codes.

        For codes that were learnt to be nested, such as those of
        `fewbits.learners.NeighbourCodes` at each of their `lengths`. What was learnt or
        tuned for the whole length is left out: the calibration, the score from which on
        an item has a label, the radius of what is familiar, and the shortlist.

        Parameters
        ----------
        n_bits : int

        Returns
        -------
        Bundle
            With the length that it had as `prefix_of` in its `info`.

        Raises
        ------
        ArgumentError
            When `n_bits` is not between 1 and the length of the codes.

        Examples
        --------
        >>> from fewbits.encoders import LinearEncoder
        >>> bundle = Bundle(LinearEncoder(np.eye(3), np.zeros(3))).with_items(np.eye(3))
        >>> bundle.prefix(2).collection.codes.ravel() >> 6
        array([2, 1, 0], dtype=uint8)
        """
        whole = self.encoder.n_bits
        known = {k: value for k, value in self.info.items() if k not in _OF_LENGTH}
        return replace(
            self,
            encoder=self.encoder.prefix(n_bits),
            items=None if self.items is None else self.items.prefix(n_bits),
            info={**known, "prefix_of": known.get("prefix_of", whole)},
            codebook=None if self.codebook is None else self.codebook.prefix(n_bits),
            calibration=None,
        )

    @property
    def novelty_radius(self) -> int | None:
        """The distance beyond which queries are unknown, None when it is not known."""
        return self.info.get(RADIUS)

    @property
    def shortlist(self) -> int | None:
        """How many items are ranked again, None where nobody tuned it."""
        return self.info.get(SHORTLIST)

    @property
    def raw_column(self) -> str | None:
        """Name of the column with texts or paths of images; None of vectors."""
        return self.info.get(RAW_COLUMN) or _RAW_COLUMNS.get(self.item_kind)

    @property
    def label_column(self) -> str | None:
        """Name of the column with labels, None where there is none."""
        name = self.info.get(LABELS, LABEL_COLUMN)
        return name if name in self.collection.columns else None

    def search(
        self,
        queries: ArrayLike | Sequence[Any],
        k: int = 10,
        *,
        filter: Any = None,
        allowed: Any = None,
    ) -> Neighbours:
        """Return the `k` items nearest to each raw query by Hamming distance.

        Never ranked again, also where that was tuned: see `search_reranked` for better
        distances, and `search_records` for what was found with its columns.

        Parameters
        ----------
        queries : array-like of shape (n, n_features), or sequence
            Raw items.
        k : int, default=10
            Where fewer items can be found, the rest is -1; of text ids None.
        filter : str or pyarrow.compute.Expression, default=None
            Which items may be found: a condition about the user's columns, such as
            ``"category = 'x' and year >= 2020"``, and the bits, as ``"bit(12) = 1"``;
            see `fewbits.filters.matching_rows`. All `k` are found where there are as
            many such items.
        allowed : array-like, default=None
            Which items may be found: a boolean mask over the rows, or ids.

        Returns
        -------
        Neighbours
            ``distances`` int32 and ``ids``, each (n, k), nearest first, ties in the
            order of the rows.

        Raises
        ------
        ArgumentError
            When a condition cannot be read, or names no column; when an id is unknown.
        """
        mask = selected(self, filter, allowed)
        found = self.index.search(self.encode(queries), k, allowed=mask)
        return Neighbours(found.distances, join_ids(self.collection.ids, found.ids))

    def search_reranked(
        self,
        queries: ArrayLike | Sequence[Any],
        k: int = 10,
        *,
        shortlist: int | None = None,
        filter: Any = None,
        allowed: Any = None,
    ) -> Ranked:
        """Return the `k` nearest of a Hamming shortlist, ranked again.

        By the kept vectors where there are some, by the scores of queries where not.

        Parameters
        ----------
        queries : array-like of shape (n, n_features), or sequence
            Raw items.
        k : int, default=10
            Where fewer items can be found, the rest is inf and -1; of text ids None.
        shortlist : int, default=None
            How many codes are ranked again; None takes the tuned number, or that of
            `fewbits.index.FlatIndex.search_reranked`.
        filter, allowed : default=None
            Which items may be found, see `search`.

        Returns
        -------
        Ranked
            ``distances`` float32 and ``ids``, each (n, k), nearest first. Distances to
            vectors are Euclidean (faiss gives their squares), else asymmetric: the sum
            of ``|score|`` over the bits that differ. Neither is a number of bits.

        Raises
        ------
        ArgumentError
            As in `search`.
        """
        found = self._reranked(queries, k, shortlist, selected(self, filter, allowed))
        return Ranked(found.distances, join_ids(self.collection.ids, found.ids))

    def _reranked(
        self,
        queries: Any,
        k: int,
        shortlist: int | None = None,
        mask: NDArray[np.bool_] | None = None,
    ) -> Ranked:
        """Return rows of the collection in the place of ids."""
        if shortlist is None and self.shortlist is not None:
            shortlist = max(check_k(k), self.shortlist)
        features = self.features(queries)
        vectors = self.collection.vectors
        return self.index.search_reranked(
            self.encoder.encode(features),
            k,
            scores=self.encoder.project(features),
            shortlist=shortlist,
            allowed=mask,
            vectors=vectors,
            query_vectors=None if vectors is None else features,
        )

    def search_by_example(
        self,
        examples: ArrayLike | Sequence[Any] = (),
        counterexamples: ArrayLike | Sequence[Any] = (),
        *,
        ids: Any = (),
        not_ids: Any = (),
        k: int = 10,
        filter: Any = None,
        allowed: Any = None,
        n_random: int = N_RANDOM,
        C: float = 100.0,
        random_state: int = 0,
    ) -> ClassMembers:
        """Rank the collection by how well it fits a class that examples define.

        The class need not be one that the encoder was trained on: a linear SVM on bits
        is learnt on the spot.

        Parameters
        ----------
        examples, counterexamples : array-like of shape (n, n_features), or sequence
            Raw items that belong to the class, and that do not.
        ids, not_ids : array-like of int or str
            Items of the collection that belong to the class, and that do not. They are
            left out of the answer, since their class is known; so are raw items that
            the collection has, with their texts, paths or vectors.
        k : int, default=10
        filter, allowed : default=None
            Rank only these items, see `search`.
        n_random : int, default=1000
            Random items of the collection that stand for everything else.
        C : float, default=100
            Weight of the errors of the SVM, see `fewbits.classify.learn_class`.
        random_state : int, default=0
            Seeds the choice of random items and the solver.

        Returns
        -------
        ClassMembers
            ``scores`` (k,), highest first and positive where the model sees a member,
            and ``ids`` (k,); fewer when the collection has fewer.

        Raises
        ------
        ArgumentError
            When there is no example, an id is unknown, or an item is given on both
            sides.

        Examples
        --------
        >>> from fewbits.learners import LSH
        >>> X = np.repeat(np.eye(4), 25, axis=0)  # 4 classes of 25 items
        >>> bundle = Bundle(LSH(n_bits=64, random_state=0).fit(X).encoder_)
        >>> bundle.with_items(X).search_by_example(ids=[50, 51], k=3).ids
        array([52, 53, 54])
        """
        members, others = self._given(examples), self._given(counterexamples)
        check_apart(members, others)
        return rank_by_class(
            self.collection,
            self.encoder.n_bits,
            self._examples(members, ids),
            self._examples(others, not_ids),
            k,
            n_random=n_random,
            C=C,
            random_state=random_state,
            allowed=selected(self, filter, allowed),
        )

    def _given(self, items: Any) -> Any:
        """Return examples as `features` takes them; an empty list is of any kind."""
        if isinstance(items, list | tuple) and not items:
            return []
        return self._as_items(items)

    def classify(
        self,
        items: ArrayLike | Sequence[Any],
        *,
        decoder: str = "soft",
        radius: int = 1,
        max_queries: int = 1000,
        order: str = "ranks",
        max_false_accept_rate: float | None = None,
    ) -> Decoded:
        """Return the class of each raw item, or that it is none of them.

        Of several labels it is the nearest; `fewbits.bundle.label_answers` tells all.

        Parameters
        ----------
        items : array-like of shape (n, n_features), or sequence
            Vectors, or whatever the backbone takes.
        decoder : str, default="soft"
            "soft", the nearest class code by reliability, which is the most probable
            class; "nearest" by Hamming distance; the same within "bounded" `radius` or
            not at all; "exact"ly a class code or none; or "orbgrand", which guesses up
            to `max_queries` codes.
        radius : int, default=1
        max_queries : int, default=1000
        order : {"ranks", "costs"}, default="ranks"
            What "orbgrand" guesses go by, see `fewbits.classify.decode_orbgrand`.
        max_false_accept_rate : float, default=None
            Whatever the decoder, an item is of no class unless its code is near that of
            a class: so near that no more than this share of unknown items is expected
            to be. It is a share of all possible codes, see
            `fewbits.ood.predicted_region`, and of items of known classes that play
            unknown ones, where `calibration` has them, see
            `fewbits.ood.leave_one_class_out_rates`: the smaller radius counts. A rate
            finer than one of these items is that of one. Real unknown items are often
            accepted several times as often. None accepts all.

        Returns
        -------
        Decoded
            ``rows`` of the codebook, -1 for none of its classes;
            ``bundle.codebook.labels(rows, none="none")`` gives the names.

        Raises
        ------
        ArgumentError
            When the bundle has no codebook, there is no such decoder, or codes are too
            short for the rate.
        """
        features = self.features(items)
        return decode(
            self,
            features,
            decoder=decoder,
            radius=radius,
            max_queries=max_queries,
            order=order,
            max_false_accept_rate=max_false_accept_rate,
        )

    @property
    def classes(self) -> Codebook:
        """The codebook.

        Raises
        ------
        ArgumentError
            When the bundle has none.
        """
        if self.codebook is None:
            raise ArgumentError(
                "this bundle has no codes of classes: learn them from labels by "
                "'fewbits fit --method llc' or another deep method, or let items vote "
                "by 'fewbits classify --labels'"
            )
        return self.codebook

    def _examples(self, items: Any, ids: Any) -> Examples:
        rows = self.collection.rows(ids)
        if not len(items):
            codes = np.empty((0, n_bytes(self.encoder.n_bits)), np.uint8)
            return Examples(codes, rows)
        codes = self.encode(items)
        same = same_rows(self, items, codes)
        return Examples(codes, np.concatenate([rows, same]))

    @property
    def item_kind(self) -> str:
        """What the bundle takes: vectors, texts, images, or codes that are packed."""
        if isinstance(self.encoder, PackedEncoder):
            return "codes"
        return "vectors" if self.backbone is None else self._backbone.kind

    @cached_property
    def index(self) -> FlatIndex:
        """The index over the codes of the collection, whose ids are its rows.

        It does not change; ``copy.copy(bundle.index)`` is one that can be added to.
        """
        return FlatIndex(self.collection.codes).freeze()

    @property
    def collection(self) -> Items:
        """The items.

        Raises
        ------
        ArgumentError
            When the bundle holds none.
        """
        if self.items is None:
            raise ArgumentError(
                "this bundle holds no items yet; 'fewbits build' puts some in"
            )
        return self.items

    def search_records(
        self,
        queries: ArrayLike | Sequence[Any],
        k: int = 10,
        *,
        rerank: bool | None = None,
        filter: Any = None,
        allowed: Any = None,
    ) -> list[list[dict[str, Any]]]:
        """Return the nearest items of each query with everything kept about them.

        Parameters
        ----------
        queries : array-like of shape (n, n_features), or sequence
            Raw items.
        k : int, default=10
        rerank : bool, default=None
            Rank a shortlist again, see `search_reranked`; None does so where it was
            tuned.
        filter, allowed : default=None
            Which items may be found, see `search`.

        Returns
        -------
        list of list of dict
            Nearest first: ``id``, ``distance`` and ``columns``, a dict of the other
            columns of the item. A distance is the number of bits that differ, as in
            `search`; hits that were ranked again have a ``metric``, too, "euclidean" or
            "asymmetric", and their distance is that of `search_reranked`.

        Raises
        ------
        ArgumentError
            When `k` is no whole number from 1 on.
        """
        if rerank is None:
            rerank = self.shortlist is not None
        # Nothing is padded here, so asking for more than there is costs nothing.
        k = min(check_k(k), max(1, len(self.collection)))
        mask = selected(self, filter, allowed)
        found: Neighbours | Ranked
        metric = None
        if rerank:
            found = self._reranked(queries, k, mask=mask)
            kept = self.collection.vectors is not None
            metric = "euclidean" if kept else "asymmetric"
        else:
            found = self.index.search(self.encode(queries), k, allowed=mask)
        distances = found.distances
        return hits_of(self.collection, found.ids, metric=metric, distance=distances)

    def summary(self) -> dict[str, Any]:
        """Return what there is to know about the bundle in a few plain values."""
        encoder = self.encoder
        facts: dict[str, Any] = {
            "encoder": encoder.kind,
            "n_features": encoder.n_features,
            "n_bits": encoder.n_bits,
            "fingerprint": encoder.fingerprint,
            "backbone": self.backbone,
            "n_items": 0 if self.items is None else len(self.items),
        }
        if self.codebook is not None:
            facts["n_classes"] = len(self.codebook)
            facts["calibrated"] = self.calibration is not None
        if self.items is not None:
            facts["bytes_per_code"] = self.items.codes.shape[1]
            facts["columns"] = self.items.columns
            facts["vectors"] = self.items.vectors is not None
        hidden = (FEATURE_NAMES, RAW_COLUMN, LABELS, ID_COLUMN)
        known = {k: v for k, v in self.info.items() if k not in hidden}
        return {**known, **facts}

    def save(self, folder: str | Path) -> None:
        """Write the bundle; a crash leaves what was there before, or all of it.

        Raises
        ------
        ArtefactError
            When the folder is a file, or holds files of something else.
        OSError
            When the folder cannot be written.
        """
        encoder = self.encoder.to_bytes()
        files: dict[str, Callable[[IO[bytes]], object]] = {
            "encoder.safetensors": lambda file: file.write(encoder),
            **class_files(self.codebook, self.calibration),
        }
        if self.items is not None:
            files["items.arrow"] = self.items.write
        content = {
            "encoder": {
                "kind": self.encoder.kind,
                "n_features": self.encoder.n_features,
                "n_bits": self.encoder.n_bits,
                "fingerprint": self.encoder.fingerprint,
            },
            "backbone": self.backbone,
            "backbone_fingerprint": self.backbone_fingerprint,
            "n_items": None if self.items is None else len(self.items),
            "info": self.info,
        }
        write_folder(Path(folder), files, content)

    @staticmethod
    def check_target(folder: str | Path, *, overwrite: bool = True) -> None:
        """Refuse a folder that `save` would refuse, before any long work.

        Raises
        ------
        ArtefactError
            When it is a file, or holds files of something else; without `overwrite`
            also when it holds a bundle.
        """
        check_target(Path(folder), overwrite=overwrite)

    @classmethod
    def load(cls, folder: str | Path, *, items: bool = True) -> Self:
        """Read a bundle and check every file against its sum; items are memory-mapped.

        Parameters
        ----------
        folder : str or Path
        items : bool, default=True
            False leaves the collection out, and does not look at its file.

        Raises
        ------
        ArtefactError
            When the folder is no bundle, or any file is missing or damaged.
        """
        folder = Path(folder)
        manifest = read_manifest(folder)
        encoder = encoders.load(checked_path(folder, manifest, "encoder.safetensors"))
        if encoder.fingerprint != manifest["encoder"]["fingerprint"]:
            raise ArtefactError(f"{folder} mixes the files of two encoders")
        collection = None
        if items and "items.arrow" in manifest["files"]:
            collection = Items.read(checked_path(folder, manifest, "items.arrow"))
            if collection.codes.shape[1] != n_bytes(encoder.n_bits):
                raise ArtefactError(f"the items of {folder} are of another encoder")
        return cls(
            encoder,
            collection,
            manifest["backbone"],
            manifest["backbone_fingerprint"],
            manifest["info"],
            *read_classes(folder, manifest, encoder.n_bits),
        )

    @cached_property
    def _backbone(self) -> Backbone:
        assert self.backbone is not None
        backbone = backbones.load(self.backbone)
        if self.backbone_fingerprint not in (None, backbone.fingerprint):
            raise ArtefactError(
                f"this bundle was made with another version of {self.backbone}: "
                f"fingerprint {str(self.backbone_fingerprint)[:12]}, here it is "
                f"{backbone.fingerprint[:12]}"
            )
        return backbone


def _checked_codes(codes: Any, n_bits: int) -> CodeArray:
    """Return packed codes of `n_bits` bits."""
    array = as_codes(as_array(codes, "codes"), n_bits=n_bits)
    check_unused(array, n_bits, "codes")
    return array


def _check_named(vectors: Any, texts: Any) -> None:
    """Refuse a matrix or a list of texts in the place of the name of a column."""
    for option, given in (("vectors", vectors), ("texts", texts)):
        names = [given] if isinstance(given, str) else given
        if names is None or _are_names(names):
            continue
        raise ArgumentError(
            f"{option} names a column of the table, got a {type(given).__name__}; for "
            "items beside a table give them first, then ids= and columns="
        )


def _are_names(names: Any) -> bool:
    several = isinstance(names, list | tuple)
    return several and all(isinstance(name, str) for name in names)


def _check_alone(ids: Any, columns: Any) -> None:
    if ids is not None or columns is not None:
        raise ArgumentError(
            "a table brings its own ids and columns: name them by id= and keep="
        )


def _named_columns(source: Input) -> dict[str, str]:
    """Return what goes into `info` on the columns of a table."""
    named = {RAW_COLUMN: source.item_column, LABELS: source.label_column}
    kept = {x: name for x, name in named.items() if name in source.columns()}
    return kept if source.id_column is None else {**kept, ID_COLUMN: source.id_column}
