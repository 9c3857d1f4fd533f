"""What a collection has learnt: an encoder with its backbone, and class codes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
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
    named_array,
    plain_type,
    typed_columns,
)
from fewbits._features import SparseRows, as_rows, in_order
from fewbits._frozen import ReadOnlyDict
from fewbits._repr import one_line
from fewbits._typing import CodeArray
from fewbits.classify import Calibration, Codebook
from fewbits.codes import as_codes, check_unused
from fewbits.collection._lengths import unit_rows
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
)
from fewbits.ood import Rejection

Progress = Callable[[int, int], None]
#: Methods whose fits have class codes.
_WITH_CLASSES = (
    "llc, deep-supervised-itq, csq, dbdh, dch, dsdh, greedyhash, hashnet, orthohash"
)


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

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that say something, as plain values for JSON."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            name: value
            for name, value in values.items()
            if value is not None and value is not False and value != {}
        }

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Self:
        """Return facts of a learner: those that are none of the fields are extra."""
        names = {each.name for each in fields(cls)}
        own = {name: value for name, value in facts.items() if name in names}
        extra = {name: value for name, value in facts.items() if name not in names}
        if "feature_names" in own:
            own["feature_names"] = tuple(own["feature_names"])
        return cls(**own, extra={**own.pop("extra", {}), **extra})

    @classmethod
    def from_dict(cls, facts: Any) -> Self:
        """Return what `to_dict` gave; raise ValueError where it is something else."""
        if not isinstance(facts, dict):
            raise ValueError(f"facts are a {type(facts).__name__}, no object")
        known = {name: value for name, value in facts.items() if name in _JSON}
        for name, value in known.items():  # others are of a newer fewbits
            kind = _JSON[name]
            if not isinstance(value, kind) or isinstance(value, bool) != (kind is bool):
                raise ValueError(f"{name} is {value!r}"[:100])
        if "feature_names" in known:
            known["feature_names"] = tuple(known["feature_names"])
        return cls(**known)

    def of_other_length(self, n_bits: int) -> Self:
        """Return what still holds for a prefix of codes that had `n_bits` bits."""
        return replace(
            self,
            novelty_radius=None,
            label_threshold=None,
            prefix_of=self.prefix_of or n_bits,
        )


#: The type that each fact has in JSON.
_JSON: dict[str, Any] = {
    "method": str,
    "parameters": dict,
    "feature_names": list,
    "kernel_map": str,
    "trained_on": int,
    "several_labels": bool,
    "normalize": bool,
    "repaired_classes": int,
    "label_threshold": int | float,
    "prefix_of": int,
    "interrupted": str,
    "extra": dict,
    "item_column": str,
    "label_column": str,
    "id_column": str,
    "index": str,
    "keep_vectors": str,
    "novelty_radius": int,
}


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
        n_bits, n_features = self.encoder.n_bits, self.encoder.n_features
        book, calibration, rejection = self.codebook, self.calibration, self.rejection
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

    @property
    def extractor(self) -> Any:
        """The backbone itself, if it is the one that the encoder was made for."""
        assert self.backbone is not None
        extractor = self.__dict__.get("_extractor")
        if extractor is None:
            extractor = backbones.load(self.backbone)
            fingerprint = extractor.fingerprint
            if self.backbone_fingerprint not in (None, fingerprint):
                raise ArtefactError(
                    f"this collection was made with another version of "
                    f"{self.backbone}: fingerprint "
                    f"{str(self.backbone_fingerprint)[:12]}, here it is "
                    f"{fingerprint[:12]}"
                )
            self.__dict__["_extractor"] = extractor
        return extractor

    def features(
        self, items: Any, *, kind: str | None = None, progress: Progress | None = None
    ) -> NDArray[Any]:
        """Return features of items of the model's kind, or, if so, of vectors."""
        if self.facts.normalize and self.backbone is None:
            return unit_rows(self.items(items))
        if kind == "vectors" and self.backbone is not None:
            return as_features(as_array(items, "vectors"), self.encoder.n_features)
        items = self.items(items)
        if self.backbone is None:
            return np.asarray(items[:])  # dense, of a sparse matrix
        return backbones.features(self.extractor, items, progress=progress)

    def encode(self, features: Any, progress: Progress | None = None) -> CodeArray:
        # A backbone has reported already, and takes nearly all of the time.
        report = progress if self.backbone is None else None
        return self.encoder.encode(features, progress=report)

    def items(self, items: Any) -> Any:
        """Return items as a matrix of features, or a list of texts or images."""
        if type(items) is np.ndarray and self.backbone is None:
            if isinstance(self.encoder, PackedEncoder):
                return checked_codes(items, self.encoder.input_bits)
            return as_features(items, self.encoder.n_features)
        if hasattr(items, "tocsr") and self.kind == "vectors":
            return as_rows(items, self.encoder.n_features)
        items = as_frame(items)
        if type(items) is not list and self._has_more(items):
            items = read(items, names=self.column_names, kind=self.kind)
        if isinstance(items, Input):
            items = self.checked(items).values
        if isinstance(self.encoder, PackedEncoder):
            return checked_codes(items, self.encoder.input_bits)
        if self.backbone is not None:
            return as_items(items, self.kind)
        if isinstance(items, SparseRows):
            return as_rows(items, self.encoder.n_features)
        check_several(items)
        array, names = named_array(items)
        if names is not None and self.facts.feature_names is not None:
            array = in_order(array, names, self.facts.feature_names, "the data frame")
        return as_features(array, self.encoder.n_features)

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
        learnt = self.facts.feature_names or ()
        if not source.names or source.names == learnt or not learnt:
            return source
        values = in_order(source.values, source.names, learnt, source.source)
        return replace(source, values=values, names=learnt)

    def prefix(self, n_bits: int) -> Self:
        """Return the model of the first bits; what holds for all bits only goes."""
        return replace(
            self,
            encoder=self.encoder.prefix(n_bits),
            facts=self.facts.of_other_length(self.encoder.n_bits),
            codebook=None if self.codebook is None else self.codebook.prefix(n_bits),
            calibration=None,  # rejection does not depend on the length
        )

    def features_name(self) -> tuple[str | None, bool]:
        """Return what decides the features: a fingerprint, or a name without one."""
        if self.backbone_fingerprint is not None:
            return self.backbone_fingerprint, True
        return self.backbone, False

    @property
    def classes(self) -> Codebook:
        """The codebook; refused where there is none."""
        if self.codebook is None:
            raise ArgumentError(
                "this collection has no class codes: learn them from labels by "
                "'fewbits fit --learner llc' or another deep method, or let items "
                "vote, by label= (on the command line --label)"
            )
        return self.codebook

    @property
    def rejecting(self) -> Rejection:
        """The rejection of items of unknown classes; refused where there is none."""
        if self.rejection is None and self.codebook is None:
            raise ArgumentError(
                "this collection cannot reject items of unknown classes: that needs "
                "class codes. 'fewbits fit' learns class codes and rejection from "
                f"items of one class each by {_WITH_CLASSES} (these need torch)"
            )
        if self.rejection is None:
            raise ArgumentError(
                "this collection cannot reject items of unknown classes: 'fewbits fit' "
                "learns that from items of at least two classes, one each, whose "
                "features were not trained on them"
            )
        return self.rejection


def checked_codes(codes: Any, n_bits: int) -> CodeArray:
    """Return packed codes of `n_bits` bits, given as such or in hexadecimal digits."""
    if are_texts(codes):
        codes = hex_codes(codes, n_bits)
    elif are_bytes(codes):
        codes, _ = packed_codes(as_column(codes), "the codes")
    array = as_codes(as_array(codes, "codes"), n_bits=n_bits)
    check_unused(array, n_bits, "codes")
    return array


def check_same_classes(first: Codebook | None, second: Codebook | None) -> None:
    """Refuse two codebooks whose codes do not mean the same."""
    if first is None or second is None:
        raise ArgumentError(
            "collections of two encoders have the same codes only where both have "
            "learnt those of the same classes: 'fewbits fit --learner llc --codebook "
            "COLLECTION'"
        )
    if first.n_bits != second.n_bits:
        raise ArgumentError(
            f"one collection has codes of {first.n_bits} bits, the other of "
            f"{second.n_bits}"
        )
    theirs = dict(zip(second.names.tolist(), second.codes, strict=True))
    ours = zip(first.names.tolist(), first.codes, strict=True)
    both = [(name, code) for name, code in ours if name in theirs]
    if not both:
        raise ArgumentError("the two collections have learnt codes of other classes")
    for name, code in both:
        if (code != theirs[name]).any():
            raise ArgumentError(
                f"class {name!r} has another code in each collection: learn one of "
                "them with the codes of the other, 'fewbits fit --codebook COLLECTION'"
            )
