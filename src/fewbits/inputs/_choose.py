"""Choice of a table's columns: those named, or the only ones that fit.

Ambiguous tables are refused, and columns that are ignored are reported.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from fewbits._arrow import is_flag, is_list, is_number, is_text, known_names
from fewbits._warnings import warn_user
from fewbits.errors import ArgumentError
from fewbits.inputs._cells import (
    are_behind_words,
    are_digits,
    are_encoded,
    are_vectors,
    check_no_vectors,
    check_words,
    stray,
)
from fewbits.inputs._shards import Table

#: Columns that number the rows: by name, without one, or as pandas writes an index.
ROW_NUMBERS = re.compile(r"|id|index|unnamed: 0|__index_level_\d+__", re.IGNORECASE)
#: Names that columns of labels have.
LABELS = {"class", "label", "labels", "target", "y"}
_GROUPS = ("vectors", "written", "texts", "digits", "numbers", "flags", "other")
_SHOWN = 40  # characters of a text in a message
_NAME_ONE = "name one (on the command line by --column)"


@dataclass(frozen=True)
class Choice:
    """The chosen columns, and how they are read."""

    how: Literal["texts", "vectors", "written", "numbers"]
    places: list[int]
    left_out: list[int] = field(default_factory=list)


def place_of(table: Table, name: str, source: str) -> int:
    """Return the place of the column of this name."""
    places = [i for i, known in enumerate(table.names) if known == name]
    if not places:
        raise ArgumentError(
            f"{source} has no column {name!r}; it has {known_names(table.names)}"
        )
    if len(places) > 1:
        raise ArgumentError(
            f"{source} has several columns called {name!r}; rename them"
        )
    return places[0]


def named(table: Table, names: Sequence[str], source: str) -> Choice:
    """Return the columns that were named: one of items, or several of numbers."""
    places = [place_of(table, name, source) for name in names]
    if len(places) > 1:
        _check_numbers(table, places, source)
        name, count = Counter(names).most_common(1)[0]
        if count > 1:
            raise ArgumentError(f"column {name!r} is named {count} times")
        return Choice("numbers", places)
    (place,) = places
    kind = table.fields[place].type
    what = f"column {names[0]!r} of {source}"
    if is_list(kind):
        return Choice("vectors", places)
    if not is_text(kind):
        raise ArgumentError(f"{what} holds {kind}, not vectors or texts")
    column = table.column(place)
    if are_vectors(column):
        return Choice("written", places)
    advice = "write them plainly, or vectors in brackets"
    check_words(column, what, advice)
    return Choice("texts", places)


def known_by_name(table: Table, names: Sequence[str], source: str) -> Choice | None:
    """Return the columns of numbers that a bundle was fitted to, if there are any.

    A single name is that of texts.
    """
    if set(names).isdisjoint(table.names):
        return None
    if len(names) == 1:
        return named(table, names, source)
    missing = [name for name in names if name not in table.names]
    if missing:
        more = f" and {len(missing) - 1} more" * (len(missing) > 1)
        raise ArgumentError(
            f"{source} has no column {missing[0]!r}{more}, of {len(names)} columns of "
            "numbers that are needed by name"
        )
    places = [place_of(table, name, source) for name in names]
    _check_numbers(table, places, source)
    return Choice("numbers", places)


def only_fitting(
    table: Table, others: Sequence[int], source: str, kind: str | None = None
) -> Choice:
    """Return the only way to read the columns at these places, as one kind if given.

    Raises
    ------
    ArgumentError
        When there is none, or more than one.
    """
    groups = _grouped(table, others)
    if kind == "vectors" and groups["vectors"] + groups["written"]:
        groups["texts"] = []
    if kind == "texts" and groups["texts"]:
        groups["vectors"] = groups["written"] = []
    fits = groups["vectors"] + groups["written"] + groups["texts"]
    if not fits:
        return _numbers(table, others, groups, source)
    _check_strays(table, groups, source)
    if len(fits) > 1:
        names = known_names(table.names[i] for i in sorted(fits))
        n_numbers = len(groups["numbers"]) if fits == groups["texts"] else 0
        meant = (
            f", or, for the {n_numbers} columns of numbers, the ids and labels (--id, "
            "--labels)"
        )
        raise ArgumentError(
            f"{source} has {len(fits)} columns of texts or vectors ({names}); "
            f"{_NAME_ONE}{meant if n_numbers > 1 else ''}"
        )
    if groups["texts"]:
        _check_few_numbers(table, groups, source)
    how = next(h for h in ("vectors", "written", "texts") if groups[h])
    left = [i for i in others if i not in fits]
    return Choice(how, fits, left)  # type: ignore[arg-type]


def tell_left_out(table: Table, choice: Choice, kept: set[int], source: str) -> None:
    """Warn of columns that are left out."""
    names = [
        f"{table.names[i]!r} ({_spoken(table.fields[i].type)})"
        for i in choice.left_out
        if i not in kept
    ]
    if names:
        taken = table.names[choice.places[0]]
        column = "column" if len(choice.places) == 1 else "columns"
        what = repr(taken) if len(choice.places) == 1 else "of numbers"
        warn_user(f"{source}: {column} {what} taken, left out: {known_names(names)}")


def _spoken(kind: Any) -> str:
    """Return the kind of a column in a word, as the reason for leaving it out."""
    if is_text(kind):
        return "text"
    return "number" if is_number(kind) else str(kind)


def _grouped(table: Table, places: Sequence[int]) -> dict[str, list[int]]:
    """Sort columns by their possible use."""
    groups: dict[str, list[int]] = {name: [] for name in _GROUPS}
    for i in places:
        groups[_group(table, i)].append(i)
    return groups


def _group(table: Table, place: int) -> str:
    kind = table.fields[place].type
    if is_list(kind):
        return "vectors"
    if is_number(kind):
        return "numbers"
    if is_flag(kind):
        return "flags"
    if not is_text(kind):
        return "other"
    column = table.column(place)
    if are_vectors(column):
        return "written"
    check_no_vectors(column, f"column {table.names[place]!r}")
    disguised = are_digits(column) or are_encoded(column) or are_behind_words(column)
    return "digits" if disguised else "texts"


def _numbers(
    table: Table, others: Sequence[int], groups: dict[str, list[int]], source: str
) -> Choice:
    """Return columns of numbers where there is nothing else."""
    for i in groups["digits"]:
        if not ROW_NUMBERS.fullmatch(table.names[i]):
            shown = table.column(i).drop_null()[0].as_py()[:_SHOWN]
            raise ArgumentError(
                f"column {table.names[i]!r} of {source} holds {shown!r} and the like: "
                "neither texts nor plain numbers nor vectors in brackets; write them "
                "plainly, or leave the column out"
            )
    numbers = sorted(groups["numbers"] + groups["flags"])
    features = [i for i in numbers if not ROW_NUMBERS.fullmatch(table.names[i])]
    if len(features) < 2 or groups["other"]:
        wrong = groups["other"] or list(others)
        found = known_names(f"{table.names[i]} ({table.fields[i].type})" for i in wrong)
        raise ArgumentError(
            f"{source} needs a column of texts, a column of vectors (a list of numbers "
            f"per row), or nothing but columns of numbers, got {found or 'none'}"
        )
    _check_unique(table, features, source)
    return Choice("numbers", features, [i for i in others if i not in features])


def _check_few_numbers(table: Table, groups: dict[str, list[int]], source: str) -> None:
    """Refuse one column of texts beside several of numbers, which may be the items."""
    name = table.names[groups["texts"][0]]
    beside = [
        i
        for i in groups["numbers"] + groups["digits"]
        if not ROW_NUMBERS.fullmatch(table.names[i])
    ]
    if len(beside) > 1:
        text = known_names([name])
        raise ArgumentError(
            f"{source} has texts in column {name!r} and {len(beside)} columns of "
            f"numbers: name the texts (--column {text}), or, if the numbers are meant, "
            f"the labels (--labels {text}), or leave that column out"
        )


def _check_strays(table: Table, groups: dict[str, list[int]], source: str) -> None:
    """Refuse columns of numbers that a few values make texts, if all texts are such."""
    texts = groups["texts"]
    if groups["vectors"] or groups["written"] or not texts:
        return
    found = stray(table.column(texts[0]))
    if found and all(stray(table.column(i)) for i in texts[1:]):
        row, value, count = found
        more = f" and {count - 1} more" * (count > 1)
        raise ArgumentError(
            f"column {table.names[texts[0]]!r} of {source} holds numbers but for "
            f"{value[:30]!r} in row {row}{more}; mend that, or, if texts are meant, "
            "name the column (on the command line by --column)"
        )


def _check_numbers(table: Table, places: Sequence[int], source: str) -> None:
    for i in places:
        kind = table.fields[i].type
        if not (is_number(kind) or is_flag(kind)):
            shown_kind = "string" if is_text(kind) else kind
            raise ArgumentError(
                f"column {table.names[i]!r} of {source} holds {shown_kind}, not numbers"
            )


def _check_unique(table: Table, places: Sequence[int], source: str) -> None:
    name, count = Counter(table.names[i] for i in places).most_common(1)[0]
    if count > 1:
        raise ArgumentError(
            f"{source} has several columns called {name!r}; rename them"
        )
