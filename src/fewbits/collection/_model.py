"""What a collection has learnt: an encoder with its backbone, and class codes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from fewbits import backbones
from fewbits._arrow import (
    as_array,
    as_column,
    as_frame,
    frame_names,
    is_frame,
    is_list,
    is_mixed,
    plain_type,
    typed_columns,
)
from fewbits._features import SparseRows, as_rows, in_order
from fewbits._frozen import ReadOnlyDict
from fewbits._repr import short_repr
from fewbits._spans import spans
from fewbits._typing import CodeArray
from fewbits._warnings import warn_user
from fewbits.classify import Calibration, Codebook
from fewbits.codes import as_codes, check_unused
from fewbits.encoders import Encoder, PackedEncoder, as_features
from fewbits.errors import ArgumentError, ArtefactError
from fewbits.inputs import (
    Input,
    are_bytes,
    are_texts,
    as_items,
    check_several,
    hex_codes,
    packed_codes,
    read,
    taking,
)
from fewbits.ood import Rejection

Progress = Callable[[int, int], None]
_ROWS = 1024  # that are brought to length 1 at a time
_SAMPLE = 1000  # rows whose lengths are compared
_RATIO = 3  # of lengths from which nearness is about little else
_FEATURES = 16  # of fewer, random vectors differ so much, too


#: What facts are in JSON.
_TYPES: Mapping[Any, str] = {
    str: "method kernel_map interrupted item_column label_column id_column index "
    "keep_vectors",
    int: "trained_on repaired_classes prefix_of novelty_radius",
    int | float: "label_threshold",
    bool: "several_labels normalize",
    dict: "parameters extra",
    list: "feature_names",
}


@dataclass(frozen=True, kw_only=True)
class Facts:
    """How the encoder was learnt, and what the columns of the collection are.

    Each is a field of ``facts`` in ``collection.json``, see FORMAT.md.
    """

    method: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    feature_names: tuple[str, ...] | None = None
    kernel_map: str | None = None
    trained_on: int | None = None
    several_labels: bool = False
    normalize: bool = False
    repaired_classes: int | None = None
    label_threshold: float | None = None
    prefix_of: int | None = None
    interrupted: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    item_column: str | None = None
    label_column: str | None = None
    id_column: str | None = None
    index: str | None = None
    keep_vectors: str | None = None
    novelty_radius: int | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():  # as JSON has them
            if name in ("parameters", "extra"):
                object.__setattr__(self, name, ReadOnlyDict(value, name=name))
            elif isinstance(value, np.generic):
                object.__setattr__(self, name, value.item())
            elif isinstance(value, list):
                object.__setattr__(self, name, tuple(value))

    def __repr__(self) -> str:
        return short_repr(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that say something, as plain values for JSON."""
        return {
            name: value
            for name, value in vars(self).items()
            if value is not None and value is not False and value != {}
        }

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Return what `to_dict` gave, without what only a newer fewbits knows."""
        values = {x.name: facts[x.name] for x in fields(cls) if x.name in facts}
        for kind, names in _TYPES.items():
            for name in set(names.split()).intersection(values):
                value = values[name]
                is_bool = type(value) is bool
                if not isinstance(value, kind) or is_bool != (kind is bool):
                    raise ArgumentError(f"{name} is {value!r}"[:100])
        return cls(**values)

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Self:
        """Return facts of a learner: those that are none of the fields are extra."""
        values = {x.name: facts[x.name] for x in fields(cls) if x.name in facts}
        others = {name: facts[name] for name in facts if name not in values}
        return cls(**{**values, "extra": {**facts.get("extra", {}), **others}})


@dataclass(frozen=True, repr=False)
class Model:
    """The half of a collection that is learnt; it does not change with the rows."""

    encoder: Encoder
    backbone: str | None = None
    backbone_fingerprint: str | None = None
    facts: Facts = field(default_factory=Facts)
    codebook: Codebook | None = None
    calibration: Calibration | None = None
    rejection: Rejection | None = None

    def __post_init__(self) -> None:
        names = self.encoder.feature_names
        if self.facts.feature_names is None and names is not None:
            facts = replace(self.facts, feature_names=names)
            object.__setattr__(self, "facts", facts)
        book, calibration, rejection = self.codebook, self.calibration, self.rejection
        n_bits, n_features = self.encoder.n_bits, self.encoder.n_features
        if book is not None and book.n_bits != n_bits:
            raise ArgumentError(
                f"the codebook has {book.n_bits} bits, the encoder {n_bits}"
            )
        if calibration is not None and book is None:
            raise ArgumentError("a calibration is of no use without a codebook")
        if calibration is not None and len(calibration.shifts) != n_bits:
            raise ArgumentError(
                f"the calibration is of {len(calibration.shifts)} bits, the encoder "
                f"has {n_bits}"
            )
        if rejection is not None and len(rejection.score.mean) != n_features:
            raise ArgumentError(
                f"the rejection is of {len(rejection.score.mean)} features, the "
                f"encoder of {n_features}"
            )

    @property
    def kind(self) -> Literal["vectors", "texts", "images", "codes"]:
        """Kind of items that it takes."""
        if self.backbone is not None:
            return "texts" if self.extractor.kind == "texts" else "images"
        return "codes" if isinstance(self.encoder, PackedEncoder) else "vectors"

    @cached_property
    def extractor(self) -> Any:
        """The backbone itself, if it is the one that the encoder was made for."""
        assert self.backbone is not None
        extractor = backbones.load(self.backbone)
        fingerprint = extractor.fingerprint
        if self.backbone_fingerprint not in (None, fingerprint):
            raise ArtefactError(
                f"this collection was made with another version of {self.backbone}: "
                f"fingerprint {str(self.backbone_fingerprint)[:12]}, here it is "
                f"{fingerprint[:12]}"
            )
        return extractor

    def features(
        self, items: Any, *, kind: str | None = None, progress: Progress | None = None
    ) -> NDArray[Any]:
        """Return features of items of the model's kind, or, if so, of vectors."""
        if self.facts.normalize and self.backbone is None:
            return normalized(self.items(items))
        if kind == "vectors" and self.backbone is not None:
            return as_features(as_array(items, "vectors"), self.encoder.n_features)
        items = self.items(items)
        if self.backbone is None:
            return np.asarray(items[:])  # dense, of a sparse matrix
        with taking(self.kind, self.encoder.n_features):
            return backbones.features(self.extractor, items, progress=progress)

    def items(self, items: Any) -> Any:
        """Return items as a matrix of features, or a list of texts or images."""
        items = as_frame(items)
        if type(items) is not list and self._has_more(items):
            items = read(items, names=self.column_names, kind=self.kind)
        if isinstance(items, Input):
            items = self.checked(items).values
        encoder = self.encoder
        if isinstance(encoder, PackedEncoder):
            with taking("codes", encoder.input_bits):
                return checked_codes(items, encoder.input_bits)
        with taking(self.kind, encoder.n_features):
            if self.backbone is not None:
                return as_items(items, self.kind)
            if not (isinstance(items, SparseRows) or hasattr(items, "tocsr")):
                check_several(items)
            return as_rows(items, encoder.n_features, self.facts.feature_names)

    def _has_more(self, items: Any) -> bool:
        """Return whether a frame has columns beside those of the items."""
        if not is_frame(items) or self.kind == "images":
            return False
        if self.kind == "vectors" and self.facts.feature_names is not None:
            return {*self.facts.feature_names} < {*frame_names(items)}
        if not is_mixed(items):
            return False
        kinds = typed_columns(items)[0].schema.types
        are_lists = [is_list(plain_type(kind)) for kind in kinds]
        return len(kinds) > 1 and (self.kind == "texts" or any(are_lists))

    @property
    def column_names(self) -> tuple[str, ...]:
        """The columns of features by name, or the one of the texts or images."""
        if self.kind in ("texts", "images") and self.facts.item_column is not None:
            return (self.facts.item_column,)
        return self.facts.feature_names or ()

    def checked(self, source: Input, *, codes: bool = False) -> Input:
        """Return what was read, if it is of the kind that the model takes.

        With `codes`, those that the encoder has made are taken as well.
        """
        kind = "vectors" if self.kind == "codes" else self.kind
        takes_codes = codes or self.kind == "codes"
        if source.kind != kind and not (source.kind == "codes" and takes_codes):
            raise ArgumentError(
                f"{source.source} holds {source.kind}, but this collection takes "
                f"{self.kind}"
            )
        names = self.facts.feature_names or ()
        if not source.names or source.names == names or not names:
            return source
        values = in_order(source.values, source.names, names, source.source)
        return replace(source, values=values, names=names)

    def prefix(self, n_bits: int) -> Self:
        """Return the model of the first bits; what holds for all bits only goes."""
        whole = self.facts.prefix_of or self.encoder.n_bits
        return replace(
            self,
            encoder=self.encoder.prefix(n_bits),
            facts=replace(
                self.facts, novelty_radius=None, label_threshold=None, prefix_of=whole
            ),
            codebook=None if self.codebook is None else self.codebook.prefix(n_bits),
            calibration=None,  # rejection does not depend on the length
        )


def checked_codes(codes: Any, n_bits: int) -> CodeArray:
    """Return packed codes of `n_bits` bits, given as such or in hexadecimal digits."""
    if are_texts(codes):
        codes = hex_codes(codes, n_bits)
    elif are_bytes(codes):
        codes, _ = packed_codes(as_column(codes), "the codes")
    array = as_codes(as_array(codes, "codes"), n_bits=n_bits)
    check_unused(array, n_bits, "codes")
    return array


# Lengths: by Euclidean and Hamming distance, long vectors are far from all.


def normalized(vectors: NDArray[Any]) -> NDArray[Any]:
    """Return vectors of length 1; those of zeros stay zeros.

    Squares are added up in one order, so that machines agree.
    """
    vectors = np.asarray(vectors[:])  # dense, of a sparse matrix
    dtype = np.float64 if vectors.dtype.itemsize > 4 else np.float32
    made = np.empty(vectors.shape, dtype)
    for span in spans(len(vectors), _ROWS):
        columns = np.ascontiguousarray(vectors[span].T, np.float64)
        largest = np.abs(columns).max(axis=0, initial=0)
        columns /= np.where(largest > 0, largest, 1)  # squares of 1e200 overflow
        total = np.zeros(columns.shape[1])
        for column in columns:
            total += column * column
        made[span] = (columns / np.sqrt(np.where(total > 0, total, 1))).T
    return made


def warn_of_lengths(vectors: NDArray[Any]) -> None:
    """Warn where lengths differ so much that nearness is about little else."""
    if vectors.ndim != 2 or vectors.shape[1] < _FEATURES:
        return
    step = max(1, len(vectors) // _SAMPLE)
    sample = np.asarray(vectors[::step], np.float64)
    short, long = np.quantile(np.sqrt((sample * sample).sum(axis=1)), (0.05, 0.95))
    if long > _RATIO * short:
        warn_user(
            f"the lengths of the vectors differ, most from {short:.3g} to {long:.3g}, "
            "and long ones are far from all others: for nearness by angle (cosine) "
            "give normalize=True (on the command line --normalize)"
        )
