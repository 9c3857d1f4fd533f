"""From raw items to features and codes."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import backbones
from fewbits._arrow import (
    as_array,
    as_frame,
    is_frame,
    is_list,
    is_mixed,
    known_names,
    named_array,
    plain_type,
    typed_columns,
)
from fewbits._typing import CodeArray
from fewbits.backbones import Backbone
from fewbits.bundle._parts import BundleParts
from fewbits.codes import as_codes, check_unused
from fewbits.encoders import PackedEncoder, as_features
from fewbits.errors import ArgumentError, ArtefactError, FeatureError
from fewbits.inputs import Input, as_items, check_several

Progress = Callable[[int, int], None]


class EncodingMixin(BundleParts):
    """Turns raw items into features by the backbone, and these into codes."""

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

    def _corrections_of(
        self, features: NDArray[Any], codes: CodeArray
    ) -> CodeArray | None:
        """Return what is stored beside codes, if the encoder gives any."""
        found = self.encoder.corrections(features, codes)
        return None if found is None else found.values

    def _as_items(self, items: Any) -> Any:
        """Return raw items as a matrix of features, or as a list of texts or images."""
        items = as_frame(items)
        if self._has_more(items):
            from fewbits.inputs import read

            items = read(
                items,
                columns=(),
                names=self._known_columns(),
                kind=None if self.item_kind == "codes" else self.item_kind,
            )
        if isinstance(items, Input):
            items = self.checked_kind(items).values
        if isinstance(self.encoder, PackedEncoder):
            return checked_codes(items, self.encoder.input_bits)
        if self.backbone is None:
            check_several(items)
            array, names = named_array(items)
            if names is not None:
                self._check_names(names)
            return as_features(array, self.encoder.n_features)
        return as_items(items, self.item_kind)

    def _has_more(self, items: Any) -> bool:
        """Return whether a frame has columns beside that of the texts or vectors."""
        if not is_frame(items) or self.item_kind == "images":
            return False
        if not is_mixed(items):
            return False
        kinds = typed_columns(items)[0].schema.types
        return len(kinds) > 1 and (
            self.item_kind == "texts" or any(map(_is_list, kinds))
        )

    def _known_columns(self) -> tuple[str, ...]:
        """Return the columns of features by name, or the one of the texts."""
        known = self.metadata
        if self.item_kind == "texts" and known.raw_column is not None:
            return (known.raw_column,)
        return known.feature_names or ()

    def _check_names(self, names: list[str]) -> None:
        """Refuse a data frame whose named columns are not those of the features."""
        learnt = list(self.metadata.feature_names or names)
        if names != learnt:
            how = "other columns than"
            if sorted(names) == sorted(learnt):
                how = "the columns, in another order, that"
            raise FeatureError(
                f"the data frame has {how} the encoder was learnt from; give "
                "items[list(bundle.metadata.feature_names)]"
            )

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
        learnt = self.metadata.feature_names
        if learnt and source.names and tuple(source.names) != learnt:
            same = set(source.names) == set(learnt)
            how = "in another order than" if same else "not"
            raise FeatureError(
                f"the columns of {source.source} are {how} those that the encoder was "
                f"learnt from, {known_names(learnt)}"
            )
        return source

    @property
    def item_kind(self) -> str:
        """Kind of items the bundle takes: vectors, texts, images, or packed codes."""
        if isinstance(self.encoder, PackedEncoder):
            return "codes"
        return "vectors" if self.backbone is None else self._backbone.kind

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


def _is_list(kind: Any) -> bool:
    return is_list(plain_type(kind))


def checked_codes(codes: Any, n_bits: int) -> CodeArray:
    """Return packed codes of `n_bits` bits."""
    array = as_codes(as_array(codes, "codes"), n_bits=n_bits)
    check_unused(array, n_bits, "codes")
    return array
