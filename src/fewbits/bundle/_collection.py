"""From raw items to a collection, and from one collection to another."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

from numpy.typing import ArrayLike

from fewbits._arrow import as_frame, is_frame
from fewbits._checks import check_choice
from fewbits._typing import CodeArray
from fewbits.bundle._class_files import check_same_classes
from fewbits.bundle._encoding import EncodingMixin, Progress, checked_codes
from fewbits.bundle._indexes import AUTO, INDEXES
from fewbits.bundle._items import Items
from fewbits.bundle._kept import KEPT, kept_vectors
from fewbits.bundle._user_columns import LABEL_COLUMN
from fewbits.errors import ArgumentError, a_kind
from fewbits.index import Corrections, Index
from fewbits.inputs import Input, warn_of_index
from fewbits.ood import novelty_radius

#: What raw items are called where they were not a column of a table.
_RAW_COLUMNS = {"texts": "text", "images": "path"}
#: Fields of the metadata that name columns of one collection.
_COLUMN_NAMES = ("raw_column", "label_column", "id_column")
Columns = Mapping[str, Any]


class CollectionMixin(EncodingMixin):
    """Makes, replaces and shortens the collection."""

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
            Ids of items that are not a table; 0, 1, 2, ... when not given.
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
        >>> import numpy as np
        >>> import pyarrow as pa
        >>> from fewbits.bundle import Bundle
        >>> from fewbits.encoders import LinearEncoder
        >>> table = pa.table({"sku": ["a", "b"], "v": [[1.0, 2.0], [3.0, -4.0]]})
        >>> bundle = Bundle(LinearEncoder(np.eye(2), np.zeros(2)))
        >>> bundle = bundle.with_items(table, vectors="v", id="sku")
        >>> bundle.search([[1.0, -1.0]], k=1).ids
        array([['b']], dtype=object)
        """
        made, names_of_columns = self._made_items(
            items,
            vectors=vectors,
            texts=texts,
            id=id,
            keep=keep,
            skip_blank=skip_blank,
            ids=ids,
            columns=columns,
            keep_vectors=keep_vectors or self.metadata.keep_vectors,
            progress=progress,
        )
        return self._holding(made, **names_of_columns)

    def _made_items(
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
    ) -> tuple[Items, dict[str, str | None]]:
        """Return items, and the names of their columns that the metadata keeps."""
        check_choice(keep_vectors or "float32", "keep_vectors", KEPT)
        if keep_vectors is not None and self.item_kind == "codes":
            raise ArgumentError("codes have no vectors to keep: leave out keep_vectors")
        _check_named(vectors, texts)
        named = vectors if texts is None else texts
        items = as_frame(items)
        asked = skip_blank or any(name is not None for name in (named, id, keep))
        if asked or self._has_more(items):
            from fewbits.inputs import read

            items = read(
                items,
                column=named,
                id=id,
                columns=keep,
                names=self._known_columns(),
                skip_blank=skip_blank,
                kind=None if self.item_kind == "codes" else self.item_kind,
            )
        names_of_columns: dict[str, str | None] = {}
        if isinstance(items, Input):
            _check_alone(ids, columns)
            ids, columns = items.ids, items.stored_columns()
            names_of_columns = _named_columns(items)
            items = self.checked_kind(items).values
        elif is_frame(items) and ids is None:
            warn_of_index(items)
        features = self.features(items, progress=progress)
        codes = self._encoded(features, progress)
        made = Items.make(
            codes,
            ids=ids,
            columns=columns,
            vectors=kept_vectors(features, keep_vectors),
            corrections=self._corrections_of(features, codes),
        )
        return made, names_of_columns

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
        checked = checked_codes(codes, self.encoder.n_bits)
        return self._holding(Items.make(checked, ids=ids, columns=columns))

    def with_collection_of(self, other: "CollectionMixin") -> Self:
        """Return this bundle with the items of another, which has the same codes.

        So texts find images, or the other way round: both were learnt by LLC with one
        codebook, see ``fewbits fit --codebook``. What is asked goes through this
        bundle's backbone and encoder; answers are the other's items.

        Parameters
        ----------
        other : Bundle
            Its encoder is the same, or has learnt the same class codes. Vectors
            that it keeps are left out, as they are not neighbours of this one's.

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
        return self._holding(
            other.collection.without_vectors(),
            raw_column=other.raw_column,
            label_column=other.metadata.label_column,
            id_column=other.metadata.id_column,
        )

    def _holding(self, items: Items, **names_of_columns: str | None) -> Self:
        # What was known about another collection says nothing about this one.
        named: dict[str, Any] = {**dict.fromkeys(_COLUMN_NAMES), **names_of_columns}
        metadata = replace(self.metadata, novelty_radius=None, **named)
        return replace(self, items=items, metadata=metadata)

    def with_novelty_radius(self, groups: ArrayLike) -> Self:
        """Return this bundle with the distance beyond which queries are unknown to it.

        Parameters
        ----------
        groups : array-like of shape (n_items,)
            Fine classes of the items; see `fewbits.ood.novelty_radius`.
        """
        radius = novelty_radius(self.collection.codes, groups)
        return replace(self, metadata=replace(self.metadata, novelty_radius=radius))

    def prefix(self, n_bits: int) -> Self:
        """Return this bundle with the first `n_bits` bits of all its codes.

        For codes that were learnt to be nested, such as those of
        `fewbits.learners.NeighbourCodes` at each of their `nested_bits`. What was
        learnt or tuned for the whole length is left out: the calibration, the threshold
        of label scores, the novelty radius, and the shortlist.

        Parameters
        ----------
        n_bits : int

        Returns
        -------
        Bundle
            With the length that it had as `prefix_of` in its `metadata`.

        Raises
        ------
        ArgumentError
            When `n_bits` is not between 1 and the length of the codes.

        Examples
        --------
        >>> import numpy as np
        >>> from fewbits.bundle import Bundle
        >>> from fewbits.encoders import LinearEncoder
        >>> bundle = Bundle(LinearEncoder(np.eye(3), np.zeros(3))).with_items(np.eye(3))
        >>> bundle.prefix(2).collection.codes.ravel() >> 6
        array([2, 1, 0], dtype=uint8)
        """
        return replace(
            self,
            encoder=self.encoder.prefix(n_bits),
            items=None if self.items is None else self.items.prefix(n_bits),
            metadata=self.metadata.of_other_length(self.encoder.n_bits),
            codebook=None if self.codebook is None else self.codebook.prefix(n_bits),
            calibration=None,  # rejection does not depend on the length
        )

    @cached_property
    def index(self) -> Index:
        """The index over the codes of the collection, see `with_index`.

        Its ids are the sequence numbers of the rows: their places where nothing was
        deleted. It does not change; ``copy.copy(bundle.index)`` can be added to.
        """
        return self.collection.index(self.metadata.index or AUTO)

    @cached_property
    def _offsets(self) -> Any:
        """The terms that re-ranking by scores adds to distances."""
        table, values = self.encoder.correction_table, self.collection.corrections
        if table is None or values is None:
            return self.encoder.offsets
        return Corrections(values, table)

    def with_index(self, kind: str) -> Self:
        """Return this bundle with another index; answers are the same with each.

        Parameters
        ----------
        kind : {"auto", "flat", "multi-index"}
            ``"flat"`` compares each query with every code, as
            `fewbits.index.FlatIndex`. ``"multi-index"`` looks each up in the tables of
            `fewbits.index.MultiIndexHashing`. ``"auto"``, the default of a bundle,
            takes for each batch what is predicted to be faster; tables take up to six
            times the memory of the codes, and are made once they would have saved as
            much time as they cost.

        Returns
        -------
        Bundle
            `save` keeps the choice, and `compact` writes tables to the folder by it.

        Raises
        ------
        ArgumentError
            When there is no such index.

        Examples
        --------
        >>> import numpy as np
        >>> from fewbits.bundle import Bundle
        >>> from fewbits.encoders import LinearEncoder
        >>> bundle = Bundle(LinearEncoder(np.eye(2), np.zeros(2))).with_items(np.eye(2))
        >>> bundle.with_index("flat").index
        FlatIndex(2 codes of 1 byte)
        """
        kind = check_choice(kind, "the index", tuple(INDEXES))
        chosen = None if kind == AUTO else kind
        return replace(self, metadata=replace(self.metadata, index=chosen))

    @property
    def raw_column(self) -> str | None:
        """Name of the column with texts or paths of images; None of vectors."""
        return self.metadata.raw_column or _RAW_COLUMNS.get(self.item_kind)

    @property
    def label_column(self) -> str | None:
        """Name of the column with labels, None where there is none."""
        name = self.metadata.label_column or LABEL_COLUMN
        return name if name in self.collection.columns else None


def _check_named(vectors: Any, texts: Any) -> None:
    """Refuse a matrix or a list of texts in the place of the name of a column."""
    for option, given in (("vectors", vectors), ("texts", texts)):
        names = [given] if isinstance(given, str) else given
        if names is None or _are_names(names):
            continue
        raise ArgumentError(
            f"{option} names a column of the table, got {a_kind(given)}; for "
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


def _named_columns(source: Input) -> dict[str, Any]:
    """Return what the metadata says about the columns of a table."""
    named = {"raw_column": source.column, "label_column": source.label}
    kept = {x: name for x, name in named.items() if name in source.stored_columns()}
    return {**kept, "id_column": source.id}
