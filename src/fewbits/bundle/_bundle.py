"""One folder <-> one object."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from fewbits import encoders
from fewbits.bundle._by_example import ExampleMixin
from fewbits.bundle._class_files import class_files, read_classes, read_rejection
from fewbits.bundle._classification import ClassificationMixin
from fewbits.bundle._duplicates import DuplicatesMixin
from fewbits.bundle._folder import (
    MANIFEST,
    check_target,
    checked_path,
    read_whole,
    write_folder,
)
from fewbits.bundle._growing import GrowingMixin
from fewbits.bundle._metadata import Metadata
from fewbits.bundle._recall import RecallMixin
from fewbits.bundle._reencoding import ReencodingMixin
from fewbits.bundle._stores import read_items, replacing_items, write_items
from fewbits.bundle._summary import encoder_facts, summary_of
from fewbits.errors import ArtefactError


@dataclass(frozen=True, repr=False)
class Bundle(
    ClassificationMixin,
    ExampleMixin,
    DuplicatesMixin,
    RecallMixin,
    GrowingMixin,
    ReencodingMixin,
):
    """An encoder with its backbone, and a searchable collection of codes and columns.

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
    metadata : Metadata, default=Metadata()
        How the encoder was learnt, what the columns of the collection are, and how it
        is searched.
    codebook : Codebook, default=None
        The class codes, for bundles that classify.
    calibration : Calibration, default=None
        Scale of scores, learnt on held-out items: `class_answers` gives probabilities
        with it.
    rejection : Rejection, default=None
        Rejects items of unknown classes, see `classify`.

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

    def __repr__(self) -> str:
        parts = [repr(self.encoder)]
        if self.backbone is not None:
            parts.append(self.backbone)
        if self.codebook is not None:
            parts.append(f"{len(self.codebook):,} classes")
        if self.items is not None:
            form = self.items.vector_form
            kept = "" if form is None else f" with {form} vectors"
            parts.append(f"{len(self.items):,} items{kept}")
        return f"Bundle({', '.join(parts)})"

    def summary(self) -> dict[str, Any]:
        """Return what there is to know about the bundle in a few plain values.

        ``bytes_per_item`` counts an item's code, correction and vector.
        """
        return summary_of(self)

    def save(self, folder: str | Path) -> None:
        """Write the bundle; a crash leaves either the old bundle or the new one.

        A collection that was loaded from this folder stays there as it is now, with
        what other writers have added to it since.

        Raises
        ------
        ArgumentError
            When the collection was made of that of this folder, as by `with_column`,
            and rows would be lost which other writers have added there since.
        ArtefactError
            When the folder is a file, or holds files of something else.
        OSError
            When the folder cannot be written.
        """
        encoder = self.encoder.to_bytes()
        files: dict[str, Callable[[IO[bytes]], object]] = {
            "encoder.safetensors": lambda file: file.write(encoder),
            **class_files(self.codebook, self.calibration, self.rejection),
        }
        folder = Path(folder)
        check_target(folder)
        content = {
            "encoder": encoder_facts(self.encoder, "kind"),
            "backbone": self.backbone,
            "backbone_fingerprint": self.backbone_fingerprint,
            "metadata": self.metadata.to_dict(),
        }
        with replacing_items(folder):
            name = write_items(folder, self.items, self.encoder)
            write_folder(folder, files, {**content, "items": name})

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
        """Read a bundle and verify the checksum of every file; items are memory-mapped.

        Parameters
        ----------
        folder : str or Path
        items : bool, default=True
            False leaves the collection out, and does not look at its file.

        Raises
        ------
        ArtefactError
            When the folder is not a bundle, or any file is missing or damaged.
        """
        folder = Path(folder)
        return read_whole(folder, lambda manifest: cls._read(folder, manifest, items))

    @classmethod
    def _read(cls, folder: Path, manifest: dict[str, Any], items: bool) -> Self:
        encoder = encoders.load(checked_path(folder, manifest, "encoder.safetensors"))
        if encoder.fingerprint != manifest["encoder"]["fingerprint"]:
            raise ArtefactError(f"{folder} mixes the files of two encoders")
        name = manifest.get("items") if items else None
        collection = (
            None if name is None else read_items(folder, name, encoder.fingerprint)
        )
        return cls(
            encoder,
            collection,
            manifest["backbone"],
            manifest["backbone_fingerprint"],
            Metadata.from_dict(manifest.get("metadata"), folder / MANIFEST),
            *read_classes(folder, manifest, encoder.n_bits),
            read_rejection(folder, manifest, encoder.n_features),
        )
