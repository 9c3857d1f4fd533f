"""Requests to a reader beside the items themselves."""

from dataclasses import dataclass

from fewbits.errors import ArgumentError


@dataclass(frozen=True)
class Wanted:
    """Requests to a reader of tables, see `fewbits.inputs.read`."""

    column: tuple[str, ...] = ()
    label_column: str | None = None
    id_column: str | None = None
    keep: bool | tuple[str, ...] = False
    names: tuple[str, ...] = ()
    skip_blank: bool = False
    as_text: tuple[str, ...] = ()
    kind: str | None = None

    def stays_text(self, name: str) -> bool:
        """Return whether a column of CSV stays as it is written."""
        return name == self.label_column or name in self.as_text

    def named(self) -> set[str]:
        """Return the requested columns, which only a table has."""
        beside = self.keep if isinstance(self.keep, tuple) else ()
        wanted = (*self.column, self.label_column, self.id_column, *beside)
        return {name for name in wanted if name is not None}

    def columns(self) -> set[str]:
        """Return the columns that a table is known to have."""
        return self.named() or {*self.names}

    def refuse(self, source: str, hint: str = "") -> None:
        """Refuse a column where there are none."""
        named: list[tuple[str, str | None]] = [("column", n) for n in self.column]
        named += [("label column", self.label_column), ("id column", self.id_column)]
        if isinstance(self.keep, tuple):
            named += [("column to keep", name) for name in self.keep]
        for what, name in named:
            if name is not None:
                raise ArgumentError(
                    f"{source} has no columns, got {what} {name!r}{hint}"
                )

    def refuse_beside(self, source: str) -> None:
        """Refuse ids and columns to keep, which an archive of arrays lacks."""
        Wanted(id_column=self.id_column, keep=self.keep).refuse(source)

    def only_column(self, source: str) -> str | None:
        """Return the only name, of a kind of file where one is the most."""
        if len(self.column) > 1:
            raise ArgumentError(
                f"{source} gives one array, got {len(self.column)} names: "
                f"{', '.join(self.column)}"
            )
        return self.column[0] if self.column else None


NOTHING = Wanted()  #: No column in particular.
