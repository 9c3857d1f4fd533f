"""Reports of damage, and of losses."""

from dataclasses import asdict, dataclass, field
from typing import Any, Self

from fewbits._repr import one_line

_SHOWN = 10  # ids of lost rows


@dataclass(frozen=True, repr=False)
class Damage:
    """One damaged block, or file.

    Parameters
    ----------
    file : str
    reason : str
    bytes : (int, int) or None
        The range of the block; None for the whole file.
    rows : (int, int) or None
        The places of the segment's rows, the last not included, that lie in it, wholly
        or in part; None where there are none, or it is unknown.
    columns : tuple of str
        The columns that have values there.
    is_derived : bool
        Whether the file can be made again from others, so that nothing is lost.
    """

    file: str
    reason: str
    bytes: tuple[int, int] | None = None
    rows: tuple[int, int] | None = None
    columns: tuple[str, ...] = ()
    is_derived: bool = False

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        place = "" if self.bytes is None else f" bytes {self.bytes[0]}-{self.bytes[1]}"
        of = "" if self.rows is None else f", rows {self.rows[0]}-{self.rows[1] - 1}"
        of += f" of {', '.join(self.columns)}" if self.columns else ""
        note = "; nothing is lost" if self.is_derived else ""
        return f"{self.file}{place}{of}: {self.reason}{note}"


@dataclass(frozen=True, repr=False)
class Report:
    """The result of `Store.verify`.

    Parameters
    ----------
    number : int or None
        Of the state that was looked at, None where no manifest can be read, or there is
        no collection.
    n_rows, n_bytes : int
        Rows that live, and bytes that were read.
    damages : tuple of Damage
    """

    number: int | None
    n_rows: int
    n_bytes: int
    damages: tuple[Damage, ...] = ()

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "damages": [asdict(each) for each in self.damages]}

    @classmethod
    def from_dict(cls, told: dict[str, Any]) -> Self:
        """Return a report from the values of `to_dict`, which JSON may have held."""
        damages = tuple(Damage(**_with_tuples(each)) for each in told["damages"])
        return cls(**{**told, "damages": damages})

    @property
    def is_intact(self) -> bool:
        """True where nothing is damaged."""
        return not self.damages

    def __str__(self) -> str:
        if self.is_intact and self.number is None:
            return f"{self.n_bytes:,} bytes are intact; there is no collection"
        if self.is_intact:
            return f"{self.n_rows:,} rows in {self.n_bytes:,} bytes are intact"
        return "\n".join(str(damage) for damage in self.damages)


def _with_tuples(told: dict[str, Any]) -> dict[str, Any]:
    return {x: tuple(y) if isinstance(y, list) else y for x, y in told.items()}


@dataclass(frozen=True, repr=False)
class Repaired:
    """The result of `Store.repair`.

    Parameters
    ----------
    before : Report
    number : int
        Of the state that is there now.
    n_rows : int
        Rows that live in it.
    n_lost : int
        Rows that are gone.
    lost_ids : tuple
        The ids of these that can still be read, at most 1,000.
    nulls : dict of str to int
        How many values of a user's column were lost, of rows that are there.
    notes : tuple of str
        What else is not as it was.
    n_vectors_lost : int
        Rows whose vectors were damaged. If any, no row has a vector any more.
    lost_vector_ids : tuple
        The ids of these, at most 1,000.
    n_undeleted : int
        Deleted rows that are there again, as the file that marked them was damaged.
    """

    before: Report
    number: int
    n_rows: int
    n_lost: int = 0
    lost_ids: tuple[int | str, ...] = ()
    nulls: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    n_vectors_lost: int = 0
    lost_vector_ids: tuple[int | str, ...] = ()
    n_undeleted: int = 0

    def __repr__(self) -> str:
        return one_line(self)

    @property
    def is_complete(self) -> bool:
        """True where no row, value, vector or delete was lost."""
        lost = self.n_lost or self.nulls or self.n_vectors_lost or self.n_undeleted
        return not lost

    def __str__(self) -> str:
        if self.before.is_intact:
            return f"nothing is damaged: {self.n_rows:,} rows"
        lines = [f"{self.n_rows:,} rows are there, {self.n_lost:,} are lost"]
        if self.n_undeleted:
            lines.append(
                f"{self.n_undeleted:,} deleted rows are there again: delete them anew"
            )
        if self.lost_ids:
            lines.append(f"ids of lost rows: {_few(self.lost_ids, self.n_lost)}")
        if self.n_vectors_lost:
            ids = _few(self.lost_vector_ids, self.n_vectors_lost)
            lines.append(
                f"the vectors of {self.n_vectors_lost:,} rows are lost (ids {ids}), so "
                "that the collection keeps none: re-ranking goes by scores, until "
                "'fewbits build --overwrite --keep-vectors' stores them again"
            )
        for name, count in self.nulls.items():
            lines.append(f"{count:,} values of column {name!r} are lost")
        return "\n".join([*lines, *self.notes])


def _few(ids: tuple[int | str, ...], n_ids: int) -> str:
    """Return the first of some ids, of which there may be more than these."""
    return ", ".join(map(str, ids[:_SHOWN])) + (", ..." if n_ids > _SHOWN else "")
