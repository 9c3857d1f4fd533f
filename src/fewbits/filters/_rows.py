"""The rows that a condition is about: columns by name, and bits of the codes."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fewbits._checks import nearest
from fewbits._typing import CodeArray
from fewbits.errors import ArgumentError
from fewbits.filters._atoms import Bit, Name
from fewbits.filters._literals import shorten
from fewbits.filters._values import Value, column_value, name_of_type

MAX_LISTED = 20


@dataclass(frozen=True)
class Rows:
    """A table, and one code for each of its rows."""

    table: pa.Table
    codes: CodeArray
    n_bits: int
    _known: dict[Name, Value] = field(default_factory=dict)

    def bit(self, bit: Bit) -> Value:
        """Return one bit of each code; only the byte that holds it is read."""
        if bit.number >= self.n_bits:
            raise ArgumentError(
                f"bit({bit.number}) does not exist: codes have bits 0 to"
                f" {self.n_bits - 1}"
            )
        byte, place = divmod(bit.number, 8)
        on = (self.codes[:, byte] & np.uint8(0x80 >> place)) != 0
        return Value("bit", pa.array(on), f"bit({bit.number})")

    def column(self, name: Name) -> Value:
        """Return a column, or a field within one; decoded once."""
        if name not in self._known:
            self._known[name] = self._find(name)
        return self._known[name]

    def _find(self, name: Name) -> Value:
        names = self.table.column_names
        if len(name.parts) > 1 and name.text in names:
            if _found(name.parts[0], name.quotes[0], names):
                raise ArgumentError(
                    f"{shorten(name.text)} may be a column or a field: rename one"
                )
            name = Name((name.text,), ("`",))
        first = _choose(name, 0, names, "column")
        data: Any = self.table.column(first)
        for place in range(1, len(name.parts)):
            if not pa.types.is_struct(data.type):
                whole = ".".join(name.parts[:place])
                raise ArgumentError(
                    f"column {shorten(whole)} ({name_of_type(data.type)}) has no field"
                    f" {shorten(name.parts[place])}"
                )
            fields = [each.name for each in data.type]
            data = pc.struct_field(data, _choose(name, place, fields, "field"))
        return column_value(data, name.text)


def _found(part: str, quote: str, names: list[str]) -> list[int]:
    """Return the places of the names that are meant: exact ones before all others."""
    exact = [place for place, name in enumerate(names) if name == part]
    if exact or quote:
        return exact
    folded = part.casefold()
    return [place for place, name in enumerate(names) if name.casefold() == folded]


def _choose(name: Name, place: int, names: list[str], noun: str) -> int:
    part, quote = name.parts[place], name.quotes[place]
    found = _found(part, quote, names)
    if len(found) == 1:
        return found[0]
    if found:
        choices = ", ".join(shorten(names[each]) for each in found)
        raise ArgumentError(f"{noun} {shorten(part)} may be any of {choices}")
    hint = nearest(part, names) or _fold_hint(part, names)
    if name.may_be_text or (not hint and quote == '"'):
        hint = " (a string stands in single quotes: " + _single(name.text) + ")"
    listed = ", ".join(shorten(each) for each in names[:MAX_LISTED]) or "none"
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    raise ArgumentError(
        f"there is no {noun} {shorten(part)}{hint}; the {noun}s are {listed}{more}"
    )


def _fold_hint(part: str, names: list[str]) -> str:
    """Return the name that differs in case alone, which `nearest` may not see."""
    alike = _found(part, "", names)
    return f" (did you mean {shorten(names[alike[0]])}?)" if alike else ""


def _single(text: str) -> str:
    shown = text if len(text) <= 40 and text.isprintable() else "..."
    return "'" + shown.replace("'", "''") + "'"
