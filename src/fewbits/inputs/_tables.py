"""Tables as items: the chosen columns, labels, ids and stored columns."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import (
    is_integer,
    is_list,
    is_number,
    is_text,
    list_matrix,
)
from fewbits._labels import as_label_names
from fewbits._warnings import warn_user
from fewbits.errors import ArgumentError, FeatureError
from fewbits.inputs._blank import blank_cells, without_blank
from fewbits.inputs._cells import are_numbers, parse_vectors, stray
from fewbits.inputs._checks import (
    check_full,
    check_ids,
    check_texts,
    checked_vectors,
)
from fewbits.inputs._choose import (
    LABELS,
    ROW_NUMBERS,
    Choice,
    known_by_name,
    named,
    only_fitting,
    place_of,
    tell_left_out,
)
from fewbits.inputs._input import Input
from fewbits.inputs._shards import Loaded, Table
from fewbits.inputs._texts import Texts
from fewbits.inputs._wanted import Wanted

_LOOKED_AT = 1000  # rows examined to recognise a column of numbers
_COUNTED = 10  # rows from which a count is no chance
_SHOWN = 40  # characters of an id in a message
_SKIP_HINT = (
    "fill it in, or leave such rows out by skip_blank=True (on the command line "
    "--skip-blank)"
)


def read_table(table: Table, wanted: Wanted, source: str) -> Input:
    """Return the items of a table, and what belongs to each."""
    if not len(table):
        raise ArgumentError(f"{source} holds no items")
    # Before the items, so that a wrong name is said even where their column is not.
    places = {
        what: None if name is None else place_of(table, name, source)
        for what, name in (("label", wanted.label_column), ("id", wanted.id_column))
    }
    kept = _kept_by_name(table, wanted, source)
    auxiliary = [place_of(table, name, source) for name in table.auxiliary]
    apart = {*kept, *places.values(), *auxiliary}
    choice = _choose(table, wanted, apart, source)
    if wanted.skip_blank:
        needed = {choice.places[0]: "text"} if choice.how == "texts" else {}
        if places["label"] is not None:
            needed[places["label"]] = "label"
        has_ids = places["id"] is not None
        table = without_blank(table, needed, source, has_ids=has_ids)
        choice = _choose(table, wanted, apart, source)  # may be digits without them
    labels = _labels(table, places["label"], source)
    ids = _ids(table, places["id"], source)
    kind, values = _items(table, choice, source)
    beside = _beside(table, wanted, choice, kept, places["id"])
    if not wanted.column:
        named_apart = {i for i in places.values() if i is not None}
        told = {*beside, *_row_numbers(table, choice), *named_apart}
        choice = replace(choice, left_out=[*choice.left_out, *auxiliary])
        tell_left_out(table, choice, told, source)
    _check_apart(table, beside, source)
    _warn_of_strays(table, beside, source)
    columns = {table.names[i]: table.kept(i) for i in beside}
    if places["label"] is not None:
        columns[table.names[places["label"]]] = table.kept(places["label"])
    side_by_side = choice.how == "numbers"
    return Input(
        kind,
        values,
        labels,
        source,
        names=tuple(table.names[i] for i in choice.places) if side_by_side else (),
        ids=ids,
        beside=columns,
        item_column=None if kind == "vectors" else table.names[choice.places[0]],
        label_column=wanted.label_column,
        id_column=wanted.id_column,
        likely_id_column=_likely_ids(table, wanted, source),
    )


def _likely_ids(table: Table, wanted: Wanted, source: str) -> str | None:
    """Return the column called id that was not asked for, if it could give ids.

    Columns of Parquet are not read for that.
    """
    if wanted.id_column is not None:
        return None
    for place, name in enumerate(table.names):
        kind = table.fields[place].type
        if name.lower() != "id" or name in wanted.named():
            continue
        if isinstance(table, Loaded):
            with suppress(ArgumentError):
                _ids(table, place, source)
                return name
        elif is_integer(kind) or is_text(kind):
            return name
    return None


def _check_apart(table: Table, beside: list[int], source: str) -> None:
    """Refuse to keep columns of one name: only the last would come back."""
    for i in beside:
        place_of(table, table.names[i], source)


def _warn_of_strays(table: Table, beside: list[int], source: str) -> None:
    """Warn of columns kept as texts because a few values are not numbers."""
    for i in beside:
        if not is_text(table.fields[i].type):
            continue
        column = table.column(i)
        if stray(column[:_LOOKED_AT]) or are_numbers(column[:_LOOKED_AT]):
            row, value, _ = stray(column) or (0, "", 0)
            if value:
                warn_user(
                    f"{source}: column {table.names[i]!r} is kept as text, because of "
                    f"{value[:_SHOWN]!r} in row {row}"
                )


def _choose(
    table: Table, wanted: Wanted, apart: set[int | None], source: str
) -> Choice:
    if wanted.column:
        return named(table, wanted.column, source)
    known = known_by_name(table, wanted.names, source)
    if known is not None:
        return known
    others = [i for i in range(len(table.fields)) if i not in apart]
    choice = only_fitting(table, others, source, wanted.kind)
    if choice.how == "numbers":
        _warn_of_numbers(table, wanted, choice, source)
    return choice


def _items(table: Table, choice: Choice, source: str) -> tuple[Any, Any]:
    """Return the kind of the items, and the items."""
    place = choice.places[0]
    what = f"column {table.names[place]!r} of {source}"
    try:
        if choice.how == "numbers":
            return "vectors", checked_vectors(
                _side_by_side(table, choice, source), source
            )
        if choice.how == "vectors":
            return "vectors", checked_vectors(table.vectors(place, what), what)
    except FeatureError as error:
        raise ArgumentError(str(error)) from None
    column = table.column(place)
    if choice.how == "written":
        check_full(column, what)
        return "vectors", checked_vectors(parse_vectors(column, what), what)
    texts = Texts(column)
    check_texts(texts, what, _SKIP_HINT)
    return "texts", texts


def _side_by_side(table: Table, choice: Choice, source: str) -> NDArray[Any]:
    """Return columns of numbers as a matrix, filled one by one."""
    kinds = {table.fields[i].type.to_pandas_dtype() for i in choice.places}
    matrix = np.empty((len(table), len(choice.places)), np.result_type(*kinds))
    for j, i in enumerate(choice.places):
        column = table.column(i)
        check_full(column, f"column {table.names[i]!r} of {source}")
        matrix[:, j] = column.to_numpy()
    return matrix


def _kept_by_name(table: Table, wanted: Wanted, source: str) -> list[int]:
    if isinstance(wanted.keep, bool):
        return []
    return [place_of(table, name, source) for name in wanted.keep]


def _beside(
    table: Table,
    wanted: Wanted,
    choice: Choice,
    kept: list[int],
    id_place: int | None,
) -> list[int]:
    """Return the places of the columns that stay with the items."""
    if wanted.keep is False:
        return []
    if wanted.keep is not True:
        return [i for i in kept if i != id_place]
    taken = set(choice.places) if choice.how != "texts" else set()
    return [i for i in range(len(table.fields)) if i not in taken and i != id_place]


def _row_numbers(table: Table, choice: Choice) -> list[int]:
    """Return columns already warned of: row numbers beside other numbers."""
    if choice.how != "numbers":
        return []
    return [i for i in choice.left_out if ROW_NUMBERS.fullmatch(table.names[i])]


def _ids(table: Table, place: int | None, source: str) -> Any:
    if place is None:
        return None
    column = table.column(place)
    check_ids(column, f"column {table.names[place]!r} of {source}")
    return column


def _labels(table: Table, place: int | None, source: str) -> NDArray[Any] | None:
    if place is None:
        return None
    column, what = table.column(place), f"labels {table.names[place]!r} of {source}"
    if is_list(column.type):
        try:
            return as_label_names(list_matrix(column, what), what)
        except FeatureError as error:
            raise ArgumentError(str(error)) from None
    plain = is_number(column.type) and not column.null_count
    try:
        return as_label_names(column.to_numpy() if plain else column, what)
    except ArgumentError as error:
        hint = f"; {_SKIP_HINT}" if blank_cells(column) else ""
        raise ArgumentError(f"{error}{hint}") from None


def _warn_of_numbers(table: Table, wanted: Wanted, choice: Choice, source: str) -> None:
    """Warn of doubtful columns in a table of numbers."""
    if wanted.names:
        warn_user(
            f"{source} has none of the {len(wanted.names)} columns that are known by "
            "name; its own are taken in their order"
        )
    for name in sorted({table.names[i] for i in _row_numbers(table, choice)}):
        warn_user(
            f"{source}: column {name!r} is taken for the numbers of rows and left out "
            "of the vectors"
        )
    for i in choice.places:
        name = table.names[i]
        if _counts(table, i):
            warn_user(
                f"{source}: column {name!r} counts the rows and is taken for a "
                "feature; if it is none, leave it out or call it 'id'"
            )
        if wanted.label_column is None and name.lower() in LABELS:
            warn_user(
                f"{source}: column {name!r} is taken for a feature; if it holds "
                f"labels, name it where labels are asked for (fit --labels {name}), or "
                "leave it out"
            )


def _counts(table: Table, place: int) -> bool:
    """Return whether a column numbers the rows under another name."""
    n = len(table)
    if n < _COUNTED or not is_integer(table.fields[place].type):
        return False
    column = table.column(place)
    if column.null_count:
        return False
    numbers = column.to_numpy()
    ends = int(numbers[-1]) - int(numbers[0])
    return ends == n - 1 and bool((np.diff(numbers) == 1).all())
