"""Questions about raw items, or about items of the collection."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from fewbits._typing import CodeArray, IdArray
from fewbits.errors import ArgumentError

if TYPE_CHECKING:
    from fewbits.bundle._collection import CollectionMixin as Bundle


@dataclass(frozen=True, eq=False)
class StoredItems:
    """Items of the collection, in the place of raw items.

    Attributes
    ----------
    rows : ndarray of shape (n,), dtype int64
    """

    rows: IdArray


class Asked:
    """The codes and features of what is asked about, each computed when needed.

    Parameters
    ----------
    bundle : Bundle
    items : array-like, sequence or StoredItems
        Codes of the latter are those of the collection, also where vectors are stored
        in so few bits that they would be encoded otherwise.
    """

    def __init__(self, bundle: "Bundle", items: Any) -> None:
        self._bundle, self._items = bundle, items
        self.rows = items.rows if isinstance(items, StoredItems) else None

    def __len__(self) -> int:
        return len(self.features if self.rows is None else self.rows)

    @cached_property
    def features(self) -> NDArray[Any]:
        """Features of shape (n, n_features); refused where they cannot be known."""
        if self.rows is None:
            return self._bundle.features(self._items)
        return _stored_features(self._bundle, self.rows)

    @cached_property
    def codes(self) -> CodeArray:
        """Packed codes of shape (n, n_bytes), dtype uint8."""
        if self.rows is None:
            return self._bundle.encoder.encode(self.features)
        return self._bundle.collection.codes_at(self.rows)

    @property
    def has_features(self) -> bool:
        """True where features are known."""
        return self.rows is None or has_features(self._bundle)


def has_features(bundle: "Bundle") -> bool:
    """Return whether a collection keeps the vectors of its items, or their texts.

    Files of images may be gone, and take long to read.
    """
    items = bundle.items
    if items is None or bundle.item_kind == "codes":
        return False
    has_texts = bundle.item_kind == "texts" and bundle.raw_column in items.columns
    return items.vector_form is not None or has_texts


def _stored_features(bundle: "Bundle", rows: IdArray) -> NDArray[Any]:
    if not has_features(bundle):
        raise ArgumentError(
            "scores of stored items are those of their vectors, and this collection "
            "keeps none: give raw items, or build it with keep_vectors (on the command "
            "line --keep-vectors float16)"
        )
    items = bundle.collection
    vectors = items.some_vectors(rows)
    if vectors is not None:
        return vectors
    return bundle.features(list(items.column(str(bundle.raw_column), rows)))
