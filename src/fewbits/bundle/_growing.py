"""Rows that come and go, in memory or in the folder of a bundle."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack

from fewbits._arrow import is_frame
from fewbits._checks import check_count
from fewbits.bundle._checked_files import checked_folder
from fewbits.bundle._collection import CollectionMixin, Columns
from fewbits.bundle._encoding import Progress
from fewbits.bundle._ids import check_found, id_column
from fewbits.bundle._indexes import AUTO, keep_tables
from fewbits.bundle._items import Items
from fewbits.bundle._repair import repaired
from fewbits.bundle._rows_to_add import aligned
from fewbits.bundle._selection import selected
from fewbits.bundle._stores import check_named, remove_unnamed, told_by_folder
from fewbits.bundle._verification import forget, verified
from fewbits.bundle._writing import ItemsWriter, locked_store, writer_of
from fewbits.errors import ArgumentError
from fewbits.inputs import Input

if TYPE_CHECKING:
    from fewbits.store import Repaired, Report


class RowOptions(TypedDict, total=False):
    """Options of `Bundle.with_items` that say where the parts of new rows are."""

    vectors: str | Sequence[str] | None
    texts: str | None
    id: str | None
    keep: Sequence[str] | None
    skip_blank: bool
    ids: Any
    columns: Columns | None
    progress: Progress | None


class GrowingMixin(CollectionMixin):
    """Adds, replaces and deletes rows of a collection.

    A bundle does not change: each method returns the bundle with the rows as they are
    then. That of a bundle which was loaded from a folder also writes the change there,
    in one step that a crash leaves undone or done. Several processes may change one
    folder: they wait for one another.
    """

    def add(
        self, items: Any, *, timeout: float | None = None, **options: Unpack[RowOptions]
    ) -> Self:
        """Return this bundle with more items.

        Parameters
        ----------
        items : array-like of shape (n, n_features), sequence, table or Input
            As `with_items` takes them.
        timeout : float, default=None
            Seconds to wait while another process writes to the folder; None waits as
            long as it takes.
        **options
            `vectors`, `texts`, `id`, `keep`, `skip_blank`, `ids`, `columns` and
            `progress`, as of `with_items`. Columns are those of the collection; where
            rows lack one, other than labels, they get null, with a warning. Ids must be
            new, and count on from the largest where they are row numbers and none are
            given.

        Returns
        -------
        Bundle

        Raises
        ------
        ArgumentError
            When an id is there already, a column is of another type, or missing and
            may not be null, or the folder is locked for longer than `timeout`.

        Examples
        --------
        >>> import numpy as np
        >>> from fewbits.bundle import Bundle
        >>> from fewbits.encoders import LinearEncoder
        >>> bundle = Bundle(LinearEncoder(np.eye(3), np.zeros(3))).with_items(np.eye(3))
        >>> bundle = bundle.add([[1.0, 1.0, 0.0]])
        >>> bundle.search([[1.0, 1.0, 0.0]], k=1).ids
        array([[3]])
        """
        table = self._rows_to_add(items, options)
        return self._changed(timeout, lambda writer: writer.append(table))

    def upsert(
        self, items: Any, *, timeout: float | None = None, **options: Unpack[RowOptions]
    ) -> Self:
        """Return this bundle with more items, which replace those of the same id.

        Parameters
        ----------
        items, timeout, **options
            The same as for `add`, but ids are required, and all columns.

        Returns
        -------
        Bundle

        Raises
        ------
        ArgumentError
            As `add`, but for ids that are there, and when no ids are given.
        """
        table = self._rows_to_add(items, options, ids_given=True)
        return self._changed(timeout, lambda writer: writer.upsert(table))

    def delete(
        self, ids: Any = None, *, filter: Any = None, timeout: float | None = None
    ) -> Self:
        """Return this bundle without some items.

        Parameters
        ----------
        ids : array-like of int or str, default=None
            Ids of items; all must be there.
        filter : str or pyarrow.compute.Expression, default=None
            A condition, as of `search`; with `ids`, which of these.
        timeout : float, default=None
            As of `add`.

        Returns
        -------
        Bundle

        Raises
        ------
        ArgumentError
            When neither is given, an id is not there, or the filter cannot be read.

        Examples
        --------
        >>> import numpy as np
        >>> from fewbits.bundle import Bundle
        >>> from fewbits.encoders import LinearEncoder
        >>> bundle = Bundle(LinearEncoder(np.eye(3), np.zeros(3))).with_items(np.eye(3))
        >>> bundle.delete([0]).search([[1.0, 0.0, 0.0]], k=1).ids
        array([[1]])
        """
        return self.delete_and_count(ids, filter=filter, timeout=timeout)[0]

    def delete_and_count(
        self,
        ids: Any = None,
        *,
        filter: Any = None,
        timeout: float | None = None,
        missing_ok: bool = False,
    ) -> tuple[Self, int]:
        """Return this bundle without some items, and how many these were.

        Parameters
        ----------
        ids, filter, timeout
            As of `delete`.
        missing_ok : bool, default=False
            Pass over ids that are not there.

        Returns
        -------
        Bundle
        int
            Items that this call has deleted, whatever other writers do meanwhile.

        Examples
        --------
        >>> import numpy as np
        >>> from fewbits.bundle import Bundle
        >>> from fewbits.encoders import LinearEncoder
        >>> bundle = Bundle(LinearEncoder(np.eye(3), np.zeros(3))).with_items(np.eye(3))
        >>> bundle.delete_and_count(filter="bit(0) = 1")[1]
        1
        """
        if ids is None and filter is None:
            raise ArgumentError("delete needs ids or a filter")
        with writer_of(self.collection, timeout) as writer:
            newest = replace(self, items=writer.items)
            if missing_ok and ids is not None:
                ids = _those_there(newest.collection, ids)
            n_deleted = writer.delete(newest._ids_to_delete(ids, filter))
            return replace(self, items=writer.commit()), n_deleted

    def compact(self, *, timeout: float | None = None) -> Self:
        """Return this bundle after its folder was made as small as it can be.

        Deleted rows leave the disk, and all segments become one. This happens by itself
        while rows come and go, so that a folder is at most twice what lives in it. Then
        tables of multi-index hashing are written where they find neighbours faster,
        unless the index is ``"flat"``, see `with_index`: processes that ask much need
        not make them. They take up to six times the room of the codes. Remains of a
        save that was killed are removed.

        Parameters
        ----------
        timeout : float, default=None
            As of `add`.
        """
        items = self.collection
        if items.snapshot is None:
            return self
        with locked_store(items, timeout) as writer:
            writer.compact()
            keep_tables(writer, self.metadata.index or AUTO)
        remove_unnamed(items.store.folder.parent)
        return replace(self, items=Items.of_store(items.store))

    def snapshot(self, number: int | None = None) -> Self:
        """Return this bundle with the items that its folder has now.

        Later commits do not change it, and what it reads stays on the disk as long as
        it is used.

        Parameters
        ----------
        number : int, default=None
            A commit that is still there, such as ``bundle.commit`` of another; None for
            the newest.
        """
        items = self.collection
        if items.snapshot is None:
            return self
        check_named(items.store)
        if number is not None:
            number = check_count(number, "number", 0)
        return replace(self, items=Items.of_store(items.store, number, items))

    @staticmethod
    def verify(folder: str | Path, *, items: bool = True) -> "Report":
        """Read every byte of a bundle, and report what is damaged.

        The folder notes when that was and what was found, for `fewbits inspect` and the
        explorer, unless it cannot be written to.

        Parameters
        ----------
        folder : str or Path
            Of a bundle, with a collection or without.
        items : bool, default=True
            False leaves the collection out, and notes nothing.

        Returns
        -------
        fewbits.store.Report

        Raises
        ------
        ArtefactError
            When the folder is not a bundle.
        """
        with told_by_folder(Path(folder)):
            if not items:
                return checked_folder(Path(folder), items=False)
            return verified(Path(folder)).report

    @staticmethod
    def repair(folder: str | Path, *, drop_rows: bool = False) -> "Repaired":
        """Put back what checksums prove in a bundle, and report what is damaged.

        A flipped bit in ``bundle.json`` is put back. The encoder cannot be repaired:
        `reencode` replaces it where the collection keeps vectors.

        Parameters
        ----------
        folder : str or Path
            Its encoder may be damaged, and ``bundle.json`` where one collection only is
            there.
        drop_rows : bool, default=False
            Drop the rows of files that are still damaged, which otherwise stay as they
            are.

        Returns
        -------
        fewbits.store.Repaired
            See `fewbits.store.Store.repair`. Other damaged files are among the damages
            before, and the notes say what to do about each that is left.

        Raises
        ------
        ArtefactError
            When the folder holds nothing to repair, or nothing of it can be read.
        """
        with told_by_folder(Path(folder)):
            report = repaired(Path(folder), drop_rows)
            forget(Path(folder))
        return report

    def disk_bytes(self) -> int:
        """Return the bytes that the collection takes on the disk; 0 in memory."""
        store = self.collection.store
        return 0 if store is None else int(store.disk_bytes())

    @property
    def commit(self) -> int | None:
        """Number of the commit that the items are of; None in memory."""
        held = self.collection.snapshot
        return None if held is None else held.number

    def _changed(
        self, timeout: float | None, change: Callable[[ItemsWriter], None]
    ) -> Self:
        with writer_of(self.collection, timeout) as writer:
            change(writer)
            return replace(self, items=writer.commit())

    def _rows_to_add(
        self, items: Any, options: RowOptions, *, ids_given: bool = False
    ) -> Any:
        """Return new rows as a table of the collection's form."""
        if unknown := sorted({*options} - RowOptions.__annotations__.keys()):
            raise TypeError(f"new rows take no option {unknown[0]!r}")
        held, known = self.collection, self.metadata
        given: dict[str, Any] = {"keep_vectors": held.vector_form, **options}
        if is_frame(items):
            given.setdefault("id", known.id_column)
            if self.item_kind == "texts":
                given.setdefault("texts", known.raw_column)
        made, names = self._made_items(items, **given)
        numbered = given.get("ids") is None and names.get("id_column") is None
        if numbered and isinstance(items, Input):
            numbered = items.ids is None
        own = held.has_text_ids or known.id_column is not None
        if numbered and (ids_given or own):
            raise ArgumentError(
                "give the ids of the rows, by id= or ids= (on the command line by --id)"
            )
        id_name = names.get("id_column")
        # An upsert needs every column: null would overwrite stored values. Labels and
        # texts may never be null.
        text = (self.label_column, self.raw_column)
        needed = held.columns if ids_given else [x for x in text if x is not None]
        return aligned(
            made.table, held, numbered=numbered, id_name=id_name, needed=needed
        )

    def _ids_to_delete(self, ids: Any, filter: Any) -> Any:
        items = self.collection
        if filter is None:
            column = id_column(ids, items.has_text_ids)
            check_found(column, items.find(column))
            return column
        mask = selected(self, filter, ids)
        import pyarrow as pa

        return items.id_column.filter(pa.array(mask)).combine_chunks()


def _those_there(items: Items, ids: Any) -> Any:
    """Return those of some ids that items have, as an Arrow column."""
    import pyarrow as pa

    column = id_column(ids, items.has_text_ids)
    return column.filter(pa.array(items.find(column) >= 0))
