"""Parts of a bundle, before anything is done with them."""

from dataclasses import dataclass, field, fields
from typing import Any

from fewbits.bundle._class_files import check_classes, check_rejection
from fewbits.bundle._items import Items
from fewbits.bundle._metadata import Metadata
from fewbits.classify import Calibration, Codebook
from fewbits.encoders import Encoder
from fewbits.errors import ArgumentError
from fewbits.ood import Rejection

#: Methods whose fits have class codes.
_WITH_CLASSES = (
    "llc, deep-supervised-itq, csq, dbdh, dch, dsdh, greedyhash, hashnet, orthohash"
)


@dataclass(frozen=True)
class BundleParts:
    """The fields of `fewbits.bundle.Bundle`, and how to ask for what may be missing."""

    encoder: Encoder
    items: Items | None = None
    backbone: str | None = None
    backbone_fingerprint: str | None = None
    metadata: Metadata = field(default_factory=Metadata)
    codebook: Codebook | None = None
    calibration: Calibration | None = None
    rejection: Rejection | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.metadata, Metadata):
            raise ArgumentError(
                "metadata must be a fewbits.bundle.Metadata, got a "
                f"{type(self.metadata).__name__}"
            )
        check_classes(self.encoder.n_bits, self.codebook, self.calibration)
        check_rejection(self.encoder.n_features, self.rejection)

    def __getstate__(self) -> dict[str, Any]:
        # The index of a copy is made anew, frozen as well.
        return {each.name: getattr(self, each.name) for each in fields(self)}

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
                "this bundle has no class codes: learn them from labels by "
                "'fewbits fit --method llc' or another deep method, or let items vote "
                "by 'fewbits classify --labels'"
            )
        return self.codebook

    @property
    def rejecting(self) -> Rejection:
        """The rejection of items of unknown classes.

        Raises
        ------
        ArgumentError
            When the bundle has none.
        """
        if self.rejection is None and self.codebook is None:
            raise ArgumentError(
                "this bundle cannot reject items of unknown classes: that needs class "
                "codes. 'fewbits fit' learns class codes and rejection from items of "
                f"one class each by {_WITH_CLASSES} (these need torch)"
            )
        if self.rejection is None:
            raise ArgumentError(
                "this bundle cannot reject items of unknown classes: 'fewbits fit' "
                "learns that from items of at least two classes, one each, whose "
                "features were not trained on them"
            )
        return self.rejection

    @property
    def novelty_radius(self) -> int | None:
        """The distance beyond which queries are unknown, None when it is not known."""
        return self.metadata.novelty_radius

    @property
    def shortlist(self) -> int | None:
        """Number of items to re-rank; None where it was not tuned."""
        return self.metadata.shortlist
