"""Encoder, items and backbone that belong together."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import backbones, encoders
from fewbits._typing import CodeArray
from fewbits.analysis import matching
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
from fewbits.bundle._items import Items
from fewbits.bundle._same import same_rows
from fewbits.codes import as_codes, n_bytes
from fewbits.codes._arguments import check_k
from fewbits.decoding import Calibration, Codebook, Decoded, familiar_radius
from fewbits.encoders import Encoder, as_features
from fewbits.errors import ArgumentError, ArtefactError, FeatureError
from fewbits.index import FlatIndex, Neighbours, Ranked
from fewbits.inputs import check_several

Progress = Callable[[int, int], None]
#: Name in `info` of the distance beyond which a query is foreign to the collection.
RADIUS = "familiar_radius"
#: Name in `info` of the columns that vectors lay in side by side.
FEATURE_NAMES = "feature_names"
#: Names in `info` of how `fewbits tune` found that the collection is best searched.
SHORTLIST, KEEP_VECTORS = "shortlist", "keep_vectors"
#: Names of what holds for codes of one length only.
_OF_LENGTH = (RADIUS, SHORTLIST, LABEL_THRESHOLD)
Columns = Mapping[str, Sequence[Any] | NDArray[Any]]


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
        How the encoder was learnt: method, parameters, number of training items.
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
        check_classes(self.encoder.n_bits, self.codebook, self.calibration)

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
        check_several(items)
        if self.backbone is None:
            self._check_columns(items)
            return as_features(items, self.encoder.n_features)
        return backbones.features(self._backbone, items, progress=progress)

    def _check_columns(self, items: Any) -> None:
        """Refuse a data frame whose named columns are not those of the features."""
        learnt, names = self.info.get(FEATURE_NAMES), getattr(items, "columns", None)
        if (
            learnt is None
            or names is None
            or not all(isinstance(n, str) for n in names)
        ):
            return
        if (given := list(names)) != learnt:
            how = "other columns than"
            if sorted(given) == sorted(learnt):
                how = "the columns, in another order, that"
            raise FeatureError(
                f"the data frame has {how} the encoder was learnt from; give "
                f"items[bundle.info[{FEATURE_NAMES!r}]]"
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
        items: ArrayLike | Sequence[Any],
        *,
        ids: ArrayLike | None = None,
        columns: Columns | None = None,
        keep_vectors: str | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Return this bundle with a collection made from raw items.

        Parameters
        ----------
        items : array-like of shape (n, n_features), or sequence
            Vectors, or whatever the backbone takes.
        ids : array-like of int, default=None
            Unique numbers; 0, 1, 2, ... when not given.
        columns : mapping of str to sequence, default=None
            Kept beside the codes, such as ``{"text": ..., "label": ...}``.
        keep_vectors : {None, "float16", "float32"}, default=None
            Whether features are kept for exact re-ranking, and in which precision; None
            keeps them where a tuned configuration asks for it.
        progress : callable, default=None
            Called with (items done, items in all).
        """
        keep_vectors = keep_vectors or self.info.get(KEEP_VECTORS)
        _check_kept(keep_vectors)
        features = self.features(items, progress=progress)
        made = Items.make(
            self._encoded(features, progress),
            ids=ids,
            columns=columns,
            vectors=_kept(features, keep_vectors),
        )
        return self._holding(made)

    def with_codes(
        self,
        codes: CodeArray,
        *,
        ids: ArrayLike | None = None,
        columns: Columns | None = None,
    ) -> Self:
        """Return this bundle with a collection of codes that its encoder made."""
        checked = as_codes(codes, n_bits=self.encoder.n_bits)
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

    def with_familiar_radius(self, groups: ArrayLike) -> Self:
        """Return this bundle with the distance beyond which queries are foreign to it.

        Parameters
        ----------
        groups : array-like of shape (n_items,)
            Fine classes of the items; see `fewbits.decoding.familiar_radius`.
        """
        radius = familiar_radius(self.collection.codes, groups)
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
    def familiar_radius(self) -> int | None:
        """The distance beyond which queries are foreign, None when it is not known."""
        return self.info.get(RADIUS)

    @property
    def shortlist(self) -> int | None:
        """How many items are ranked again, None where nobody tuned it."""
        return self.info.get(SHORTLIST)

    def search(
        self,
        queries: ArrayLike | Sequence[Any],
        k: int = 10,
        *,
        where: Mapping[int, int] | None = None,
    ) -> Neighbours:
        """Return the `k` items nearest to each raw query by Hamming distance.

        Only those whose bits are as `where` says, such as ``{12: 1, 40: 0}``.
        """
        return self.index.search(self.encode(queries), k, allowed=self._allowed(where))

    def _allowed(self, where: Mapping[int, int] | None) -> NDArray[np.bool_] | None:
        if where is None:
            return None
        if not isinstance(where, Mapping):
            raise ArgumentError(
                f"where must be a mapping such as {{12: 1}}, got {where!r}"
            )
        if not where:
            return None
        return matching(self.collection.codes, self.encoder.n_bits, where)

    def search_reranked(
        self,
        queries: ArrayLike | Sequence[Any],
        k: int = 10,
        *,
        shortlist: int | None = None,
        where: Mapping[int, int] | None = None,
    ) -> Ranked:
        """Return the `k` nearest of a Hamming shortlist, ranked again.

        By the kept vectors where there are some (Euclidean distance), by the asymmetric
        distance of scores to codes where not. The `shortlist` is the tuned one, or as
        in `fewbits.index.FlatIndex.search_reranked`, if not given. For `where` see
        `search`.
        """
        if shortlist is None and self.shortlist is not None:
            shortlist = max(check_k(k), self.shortlist)
        features = self.features(queries)
        vectors = self.collection.vectors
        return self.index.search_reranked(
            self.encoder.encode(features),
            k,
            scores=self.encoder.project(features),
            shortlist=shortlist,
            allowed=self._allowed(where),
            vectors=vectors,
            query_vectors=None if vectors is None else features,
        )

    def find_class(
        self,
        examples: ArrayLike | Sequence[Any] = (),
        counterexamples: ArrayLike | Sequence[Any] = (),
        *,
        ids: ArrayLike = (),
        not_ids: ArrayLike = (),
        k: int = 10,
        where: Mapping[int, int] | None = None,
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
        ids, not_ids : array-like of int
            Items of the collection that belong to the class, and that do not. They are
            left out of the answer, since their class is known; so are raw items that
            the collection has, with their texts, paths or vectors.
        k : int, default=10
        where : mapping of int to int, default=None
            Rank only items whose bits are so, such as ``{12: 1, 40: 0}``.
        n_random : int, default=1000
            Random items of the collection that stand for everything else.
        C : float, default=100
            Weight of the errors of the SVM, see `fewbits.decoding.learn_class`.
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
        >>> bundle.with_items(X).find_class(ids=[50, 51], k=3).ids
        array([52, 53, 54])
        """
        for items in (examples, counterexamples):
            check_several(items)
            if not hasattr(items, "__len__"):
                raise ArgumentError(f"examples must be a list of items, got {items!r}")
        check_apart(examples, counterexamples)  # type: ignore[arg-type]
        return rank_by_class(
            self.collection,
            self.encoder.n_bits,
            self._examples(examples, ids),
            self._examples(counterexamples, not_ids),
            k,
            n_random=n_random,
            C=C,
            random_state=random_state,
            allowed=self._allowed(where),
        )

    def classify(
        self,
        items: ArrayLike | Sequence[Any],
        *,
        decoder: str = "soft",
        radius: int = 1,
        budget: int = 1000,
        order: str = "ranks",
        foreign_rate: float | None = None,
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
            not at all; "exact"ly a class code or none; or "ordered", which guesses up
            to `budget` codes.
        radius : int, default=1
        budget : int, default=1000
        order : {"ranks", "costs"}, default="ranks"
            What "ordered" guesses go by, see `fewbits.decoding.decode_ordered`.
        foreign_rate : float, default=None
            Whatever the decoder, an item is of no class unless its code is near that of
            a class: so near that no more than this share of foreign items is expected
            to be. It is a share of all possible codes, see
            `fewbits.decoding.predicted_region`, and of items of known classes that play
            foreign ones, where `calibration` has them, see
            `fewbits.decoding.hidden_class_rates`: the smaller radius counts. A rate
            finer than one of these items is that of one. Real foreign items are often
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
            budget=budget,
            order=order,
            foreign_rate=foreign_rate,
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

    def _examples(self, items: ArrayLike | Sequence[Any], ids: ArrayLike) -> Examples:
        rows = self.collection.rows(ids)
        if not len(items):  # type: ignore[arg-type]
            codes = np.empty((0, n_bytes(self.encoder.n_bits)), np.uint8)
            return Examples(codes, rows)
        codes = self.encode(items)
        same = same_rows(self, items, codes)  # type: ignore[arg-type]
        return Examples(codes, np.concatenate([rows, same]))

    @property
    def item_kind(self) -> str:
        """What the bundle takes: vectors, texts or images."""
        return "vectors" if self.backbone is None else self._backbone.kind

    @cached_property
    def index(self) -> FlatIndex:
        """The index over the collection."""
        return FlatIndex(self.collection.codes, self.collection.ids)

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

    def answers(
        self,
        queries: ArrayLike | Sequence[Any],
        k: int = 10,
        *,
        rerank: bool | None = None,
        where: Mapping[int, int] | None = None,
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
        where : mapping of int to {0, 1}, default=None
            What bits of the items must be, see `search`.

        Returns
        -------
        list of list of dict
            ``id``, ``distance`` and the user's columns, nearest first.

        Raises
        ------
        ArgumentError
            When `k` is no whole number from 1 on.
        """
        if rerank is None:
            rerank = self.shortlist is not None
        search = self.search_reranked if rerank else self.search
        # Nothing is padded here, so asking for more than there is costs nothing.
        k = min(check_k(k), max(1, len(self.collection)))
        found = search(queries, k, where=where)
        return [
            [
                {"id": int(i), "distance": distance, **self.collection.row(int(i))}
                for i, distance in zip(ids, distances.tolist(), strict=True)
                if i >= 0
            ]
            for ids, distances in zip(found.ids, found.distances, strict=True)
        ]

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
        known = {k: v for k, v in self.info.items() if k != FEATURE_NAMES}
        return {**known, **facts}

    def save(self, folder: str | Path) -> None:
        """Write the bundle; a crash leaves what was there before, or all of it.

        Raises
        ------
        ArgumentError
            When `info` holds what JSON cannot.
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
            "info": _plain(self.info),
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


def _kept(features: NDArray[Any], dtype: str | None) -> NDArray[Any] | None:
    if dtype is None:
        return None
    # No copy where the dtype is the same already: a memory map stays on the disk.
    with np.errstate(over="ignore"):
        kept = np.asarray(features, dtype=dtype)
    if dtype == "float16" and np.isinf(kept).any():
        row = int(np.argmax(np.isinf(kept).any(axis=1)))
        raise ArgumentError(
            f"the features of row {row} are too large for float16: keep float32"
        )
    return kept


def _check_kept(dtype: str | None) -> None:
    if dtype not in {None, "float16", "float32"}:
        raise ArgumentError(
            f"keep_vectors must be 'float16', 'float32' or None, got {dtype!r}"
        )


def _plain(info: Mapping[str, Any]) -> Any:
    """Return `info` as it will be read again; NumPy's numbers become Python's."""
    try:
        return json.loads(json.dumps(dict(info), default=_from_numpy))
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"info must hold plain values only: {error}") from None


def _from_numpy(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"got {type(value).__name__}")
