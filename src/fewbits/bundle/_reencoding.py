"""The items of a collection, encoded by another encoder."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from fewbits._spans import spans
from fewbits._typing import CodeArray
from fewbits.bundle._collection import CollectionMixin
from fewbits.bundle._encoding import Progress
from fewbits.bundle._folder import MANIFEST, read_whole
from fewbits.bundle._items import Items
from fewbits.bundle._metadata import Metadata
from fewbits.bundle._stores import read_items
from fewbits.codes import n_bytes
from fewbits.errors import ArgumentError

_NUMBERS = 1 << 24  # of vectors at a time


@dataclass(frozen=True)
class _Rows:
    """A bundle on disk without its encoder."""

    collection: Items
    backbone: str | None
    backbone_fingerprint: str | None
    metadata: Metadata

    @classmethod
    def read(cls, folder: Path, manifest: dict[str, Any]) -> Self:
        name = manifest.get("items")
        if name is None:
            raise ArgumentError(f"{folder} holds no items")
        return cls(
            read_items(folder, name, manifest["encoder"]["fingerprint"]),
            manifest["backbone"],
            manifest["backbone_fingerprint"],
            Metadata.from_dict(manifest.get("metadata"), folder / MANIFEST),
        )


class ReencodingMixin(CollectionMixin):
    """Takes over the items of a bundle with another encoder."""

    def reencode(
        self,
        other: CollectionMixin | str | Path,
        *,
        progress: Progress | None = None,
    ) -> Self:
        """Return this bundle with the items of another, encoded from their vectors.

        Ids, columns, vectors and the order of the rows stay. Saved to the folder of
        `other`, it replaces encoder and codes there in one step.

        Parameters
        ----------
        other : Bundle, str or Path
            Keeps vectors, see `with_items`, that are features of the same backbone: its
            fingerprint decides, under whatever name. Of a folder the encoder is not
            read: it may be damaged, or missing.
        progress : callable, default=None
            Called with (items done, items in all).

        Returns
        -------
        Bundle

        Raises
        ------
        ArgumentError
            When `other` keeps no vectors, or those of another backbone or length.

        Examples
        --------
        >>> import numpy as np
        >>> from fewbits.bundle import Bundle
        >>> from fewbits.encoders import LinearEncoder
        >>> X = np.array([[1.0, -1.0], [-1.0, -1.0]])
        >>> old = Bundle(LinearEncoder(np.eye(2), np.zeros(2)))
        >>> old = old.with_items(X, ids=[7, 9], keep_vectors="float32")
        >>> new = Bundle(LinearEncoder(-np.eye(2), np.zeros(2))).reencode(old)
        >>> new.collection.ids, new.collection.codes.ravel() >> 6
        (array([7, 9]), array([1, 3], dtype=uint8))
        """
        rows = _rows_of(other)
        items = rows.collection
        self._check_vectors_of(rows)
        codes = np.empty((len(items), n_bytes(self.encoder.n_bits)), np.uint8)
        corrections: list[CodeArray] = []
        for span in spans(len(items), max(1, _NUMBERS // self.encoder.n_features)):
            vectors = items.some_vectors(np.arange(span.start, span.stop))
            assert vectors is not None
            codes[span] = self.encoder.encode(vectors)
            found = self._corrections_of(vectors, codes[span])
            corrections += [] if found is None else [found]
            if progress is not None:
                progress(span.stop, len(items))
        beside = np.concatenate(corrections) if corrections else None
        names: dict[str, Any] = {
            name: getattr(rows.metadata, name)
            for name in ("raw_column", "label_column", "id_column")
        }
        return self._holding(items.with_codes(codes, beside), **names)

    def with_column(self, name: str, values: Any) -> Self:
        """Return this bundle with another column of the user's, in memory until saved.

        Parameters
        ----------
        name : str
            A column of this name is replaced.
        values : sequence
            A value for each item, in the order of the rows.

        Raises
        ------
        ArgumentError
            When there are not as many values as items, they are of several types, or
            the name is empty, no string, or that of the column with the ids.
        """
        if not isinstance(name, str) or not name:
            raise ArgumentError(f"a column needs a name, a string; got {name!r}")
        if name == self.metadata.id_column:
            raise ArgumentError(
                f"column {name!r} gives the ids of the items, which stay; choose "
                "another name, or build the collection anew"
            )
        return replace(self, items=self.collection.with_column(name, values))

    def _check_vectors_of(self, other: CollectionMixin | _Rows) -> None:
        vectors = other.collection.vectors
        if vectors is None:
            raise ArgumentError(
                "the collection keeps no vectors to encode: build it with keep_vectors"
            )
        if _features_of(self) != _features_of(other):
            raise ArgumentError(
                f"the collection keeps vectors of another backbone, {_told(other)}; "
                f"this bundle takes those of {_told(self)}"
            )
        if vectors.shape[1] != self.encoder.n_features:
            raise ArgumentError(
                f"the collection keeps vectors of {vectors.shape[1]} features, the "
                f"encoder takes {self.encoder.n_features}"
            )


def _rows_of(other: CollectionMixin | str | Path) -> CollectionMixin | _Rows:
    if isinstance(other, str | Path):
        return read_whole(Path(other), partial(_Rows.read, Path(other)))
    return other


def _features_of(bundle: CollectionMixin | _Rows) -> tuple[str | None, bool]:
    """Return what decides the features: the fingerprint, or a name where none is known.

    So a backbone that is renamed stays the same one.
    """
    if bundle.backbone_fingerprint is not None:
        return bundle.backbone_fingerprint, True
    return bundle.backbone, False


def _told(bundle: CollectionMixin | _Rows) -> str:
    if bundle.backbone_fingerprint is None:
        return bundle.backbone or "none"
    return f"{bundle.backbone} ({bundle.backbone_fingerprint[:12]})"
