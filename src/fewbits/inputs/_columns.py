"""A table as items: which columns hold the items, and what belongs to each.

Columns are taken by their names; without a name, the only column that can be the items
is. Where there are several, an error lists them.
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import (
    is_list,
    is_number,
    is_text,
    known_names,
    list_matrix,
    no_column,
    number_matrix,
    split_names,
)
from fewbits._ids import new_ids
from fewbits._labels import as_label_names
from fewbits._lazy import pa
from fewbits._warnings import warn_user
from fewbits.errors import ArgumentError, FeatureError
from fewbits.inputs._input import (
    SKIP_HINT,
    Input,
    Kind,
    Options,
    Texts,
    blank_rows,
    check_texts,
    checked_vectors,
)
from fewbits.inputs._tables import Table
from fewbits.inputs._text_kinds import (
    PLAIN_NUMBER,
    check_no_file_names,
    check_words,
    exceptions,
    packed_codes,
    parse_vectors,
    text_kind,
)

#: Columns that number the rows: by name, without one, or as pandas writes an index.
_ROW_NUMBERS = re.compile(r"|id|index|unnamed: 0|__index_level_\d+__", re.IGNORECASE)
#: Names that columns of labels have.
_LABELS = {"class", "label", "labels", "target", "y"}
_COUNTED = 10  # rows from which a count is no chance
_MAX_SHOWN = 40  # characters of a text in a message
_SKIPPED = 5  # rows in a message
#: What columns of texts may be used as, by what is written in them.
_GROUPS = {"vectors": "written", "words": "texts", "codes": "codes"}


class _Choice(NamedTuple):
    """The columns of the items, and the kind as which they are read."""

    kind: str  # also "written" vectors, and "numbers" side by side
    places: Sequence[int]
    left_out: Sequence[int] = ()


def read_table(
    table: Table, options: Options, source: str, folder: Path | None = None
) -> Input:
    """Return the items of a table; relative paths of images begin in `folder`."""
    if not len(table):
        raise ArgumentError(f"{source} holds no items")
    if options.id is None and table.places(str(options.default_id)):
        options = replace(options, id=options.default_id)
    options = replace(options, column=tuple(split_names(options.column, table.names)))
    if options.columns is not None:
        names = tuple(split_names(options.columns, table.names))
        options = replace(options, columns=names)
    # Before the items, so that a wrong name is said even where their column is not.
    label, id_ = (
        None if name is None else column_index(table, name, source)
        for name in (options.label, options.id)
    )
    beside = [column_index(table, name, source) for name in options.columns or ()]
    auxiliary = [column_index(table, name, source) for name in table.auxiliary]
    apart = {*beside, *auxiliary, label, id_}
    choice = _choose(table, options, apart, source)
    if options.skip_blank:
        needed = {} if label is None else {label: "label"}
        if choice.kind in ("texts", "images", "codes"):
            needed = {choice.places[0]: choice.kind.removesuffix("s")} | needed
        table = _without_blank(table, needed, source, has_ids=id_ is not None)
        choice = _choose(table, options, apart, source)  # may be digits without them
    values, n_bits = _items(table, choice, source, folder)
    if options.columns is None:
        items = () if choice.kind == "texts" else choice.places
        beside = [i for i in range(table.n_columns) if i not in items]
    beside = [i for i in beside if i != id_]
    several = choice.kind == "numbers"
    left_out = [  # and not said so already
        i
        for i in (*choice.left_out, *auxiliary)
        if i not in {*beside, label, id_}
        and not (several and _ROW_NUMBERS.fullmatch(table.names[i]))
    ]
    names = tuple(table.names[i] for i in choice.places)
    if left_out and not (options.column or options.images or options.codes):
        kinds = {i: table.fields[i].type for i in left_out}
        shown = known_names(
            f"{table.names[i]!r} "
            f"({'text' if is_text(x) else 'number' if is_number(x) else x})"
            for i, x in kinds.items()
        )
        chosen = "columns of numbers" if len(names) > 1 else f"column {names[0]!r}"
        warn_user(f"{source}: {chosen} taken, left out: {shown}")
    columns = {}
    for i in beside:
        name = table.names[i]
        column_index(table, name, source)  # of two of one name, one would come back
        is_kept = is_text(table.fields[i].type) and i not in choice.places
        if is_kept and (odd := exceptions(table.column(i), PLAIN_NUMBER)):
            warn_user(
                f"{source}: column {name!r} is kept as text, because of "
                f"{odd[1][:_MAX_SHOWN]!r} in row {odd[0]}"
            )
        columns[name] = table.stored_column(i)
    if label is not None:
        columns[table.names[label]] = table.stored_column(label)
    is_vectors = choice.kind in ("vectors", "written", "numbers")
    return Input(
        "vectors" if is_vectors else cast(Kind, choice.kind),
        values,
        None if label is None else _labels(table, label, source),
        source,
        names=names if several else (),
        ids=None if id_ is None else _ids(table, id_, source),
        columns=columns,
        column=None if choice.kind in ("numbers", "codes") else names[0],
        label=options.label,
        id=options.id,
        likely_id=_likely_id(table, options, source),
        n_bits=n_bits,
    )


def column_index(table: Table, name: str, source: str) -> int:
    """Return the place of the column of this name."""
    places = table.places(name)
    if not places:
        raise ArgumentError(no_column(source, name, table.names))
    if len(places) > 1:
        raise ArgumentError(
            f"{source} has several columns called {name!r}; rename them"
        )
    return places[0]


def _column_of(table: Table, place: int, source: str) -> str:
    return f"column {table.names[place]!r} of {source}"


# Which columns hold the items


def _choose(
    table: Table, options: Options, apart: set[int | None], source: str
) -> _Choice:
    for kind, name in (("codes", options.codes), ("images", options.images)):
        if name is not None:
            return _Choice(kind, [column_index(table, name, source)])
    if options.column:
        return _by_names(table, options.column, source)
    missing = [name for name in options.names if not table.places(name)]
    if len(missing) < len(options.names):  # known by name
        if options.kind == "images":
            return _Choice("images", [column_index(table, options.names[0], source)])
        if len(options.names) == 1:  # that of texts
            return _by_names(table, options.names, source)
        if missing:
            more = f" and {len(missing) - 1} more" * (len(missing) > 1)
            raise ArgumentError(
                f"{source} has no column {missing[0]!r}{more}, of {len(options.names)} "
                "columns of numbers that are needed by name"
            )
        places = [column_index(table, name, source) for name in options.names]
        return _Choice("numbers", places)
    others = [i for i in range(table.n_columns) if i not in apart]
    if options.kind in ("codes", "images"):
        if len(others) != 1:
            raise ArgumentError(
                f"{source} has {known_names(table.names[i] for i in others)}: name the "
                f"column of {options.kind} by {options.kind}="
            )
        return _Choice(options.kind, others)
    return _only_fitting(table, others, options, source)


def _by_names(table: Table, names: Sequence[str], source: str) -> _Choice:
    """Return the columns that were named: one of items, or several of numbers."""
    places = [column_index(table, name, source) for name in names]
    if len(places) > 1:
        name, count = Counter(names).most_common(1)[0]
        if count > 1:
            raise ArgumentError(f"column {name!r} is named {count} times")
        return _Choice("numbers", places)
    kind = table.fields[places[0]].type
    what = _column_of(table, places[0], source)
    if is_list(kind):
        return _Choice("vectors", places)
    if not is_text(kind):
        raise ArgumentError(
            f"{what} holds {kind}, not vectors or texts; codes and images are named by "
            "codes= and images="
        )
    column = table.column(places[0])
    if text_kind(column)[0] == "vectors":
        return _Choice("written", places)
    check_words(column, what, "write them plainly, or vectors in brackets")
    return _Choice("texts", places)


def _only_fitting(
    table: Table, others: Sequence[int], options: Options, source: str
) -> _Choice:
    """Return the only way to read the columns at these places, or ask."""
    groups: dict[str, list[int]] = defaultdict(list)
    forms = {}  # what columns hold, for a message
    odd = []  # columns of texts for a few values
    for i in others:
        kind = table.fields[i].type
        if is_list(kind):
            group = forms[i] = "vectors"
        elif is_number(kind) or pa.types.is_boolean(kind):
            group = forms[i] = "numbers"
        elif is_text(kind):
            column = table.column(i)
            form, text = text_kind(column)
            if form == "broken":
                check_words(column, _column_of(table, i, source), "")
            group = _GROUPS.get(form, "data")
            forms[i] = group
            if group == "data":
                shown = f"{text[:_MAX_SHOWN]!r} and the like"
                forms[i] = f"{shown}, neither texts nor plain numbers"
            elif group == "texts" and (exception := exceptions(column, PLAIN_NUMBER)):
                row, text = exception
                forms[i] = f"numbers but for {text[:_MAX_SHOWN]!r} in row {row}"
                odd.append(i)
        else:
            group, forms[i] = "null" if str(kind) == "null" else "other", str(kind)
        groups[group].append(i)
    if options.kind == "vectors" and groups["vectors"] + groups["written"]:
        groups["texts"] = []
    if options.kind == "texts" and groups["texts"]:
        groups["vectors"], groups["written"] = [], []
    texts = groups["texts"]
    fits = sorted(groups["vectors"] + groups["written"] + texts)
    numbers, data = (
        [i for i in groups[x] if not _ROW_NUMBERS.fullmatch(table.names[i])]
        for x in ("numbers", "data")
    )
    kinds = [table.fields[i].type for i in numbers]
    n_counted = len(kinds) - sum(map(pa.types.is_boolean, kinds)) + len(data)
    if fits:
        is_sure = len(fits) == 1 and not (texts and (odd or n_counted > 1))
        chosen = "texts" if texts else "vectors" if groups["vectors"] else "written"
    else:
        for i in groups["codes"]:
            check_words(table.column(i), _column_of(table, i, source), "")
        is_sure = len(numbers) > 1 and not (data or groups["other"])
        chosen, fits = "numbers", numbers
        for i in fits if is_sure else ():
            column_index(table, table.names[i], source)  # the only one of its name
    if not is_sure:
        what, listed = "no column that surely holds the items", others
        if chosen != "numbers" and len(fits) > 1:
            what, listed = f"{len(fits)} columns of texts or vectors", fits
        names = known_names(f"{table.names[i]} ({forms[i]})" for i in listed)
        raise ArgumentError(
            f"{source} has {what}: {names or 'none'}; name the items by column= (on "
            "the command line --column), or by codes= or images=, ids by id= and "
            "labels by label="
        )
    left_out = [i for i in others if i not in fits]
    if chosen == "numbers":
        _warn_of_numbers(table, options, fits, left_out, source)
    if chosen == "texts":
        advice = f"for the images, name their column by images={table.names[fits[0]]!r}"
        check_no_file_names(Texts(table.column(fits[0])[:100].drop_null()), advice)
    return _Choice(chosen, fits, left_out)


def _warn_of_numbers(
    table: Table,
    options: Options,
    places: Sequence[int],
    left_out: Sequence[int],
    source: str,
) -> None:
    """Warn of doubtful columns in a table of numbers."""
    doubts = []
    if options.names:
        doubts.append(
            f"it has none of the {len(options.names)} columns that are known by name; "
            "its own are taken in their order"
        )
    for name in sorted({table.names[i] for i in left_out}):
        if _ROW_NUMBERS.fullmatch(name):
            doubts.append(
                f"column {name!r} is taken for the numbers of rows and left out of the "
                "vectors"
            )
    for i in places:
        name, column = table.names[i], table.column(i)
        is_whole = pa.types.is_integer(column.type) and not column.null_count
        numbers = column.to_numpy() if is_whole else np.empty(0)
        is_long = len(numbers) >= _COUNTED
        span = int(numbers[-1]) - int(numbers[0]) if is_long else 0  # diff wraps around
        if is_long and span == len(numbers) - 1 and (np.diff(numbers) == 1).all():
            doubts.append(
                f"column {name!r} counts the rows and is taken for a feature; if it is "
                "none, leave it out or call it 'id'"
            )
        if options.label is None and name.lower() in _LABELS:
            doubts.append(
                f"column {name!r} is taken for a feature; if it holds labels, name it "
                f"by label= (fit --label {name}), or leave it out"
            )
    for doubt in doubts:
        warn_user(f"{source}: {doubt}")


# What the columns hold


def _items(
    table: Table, choice: _Choice, source: str, folder: Path | None
) -> tuple[Any, int | None]:
    """Return the items, and the number of bits of codes."""
    place = choice.places[0]
    what = _column_of(table, place, source)
    try:
        if choice.kind == "numbers":
            fields = [table.fields[i] for i in choice.places]
            columns = map(table.column, choice.places)
            matrix = number_matrix(fields, columns, len(table), source)
            return checked_vectors(matrix, source), None
        if choice.kind == "vectors":
            return checked_vectors(table.vectors(place, what), what), None
        column = table.column(place)
        if choice.kind == "codes":
            return packed_codes(column, what)
    except FeatureError as error:
        raise ArgumentError(str(error)) from None
    if choice.kind == "written":
        return checked_vectors(parse_vectors(column, what), what), None
    if choice.kind == "images" and not is_text(column.type):
        raise ArgumentError(f"{what} holds {column.type}, not paths of images")
    texts = Texts(column)
    check_texts(texts, what, SKIP_HINT)
    if choice.kind == "texts":
        return texts, None
    paths = [(folder or Path()) / text for text in texts]
    missing = [row for row, path in enumerate(paths) if not os.path.isfile(path)]
    if len(missing) == len(paths):  # of others, all faults are named at once
        more = f", nor in {len(missing) - 1:,} more" * (len(missing) > 1)
        where = f"; paths begin in {folder}" if folder else ""
        raise ArgumentError(
            f"{what} names no file in row {missing[0]}{more}: there is no "
            f"{paths[missing[0]]}{where}"
        )
    return paths, None


def _labels(table: Table, place: int, source: str) -> NDArray[Any]:
    column, what = table.column(place), f"labels {table.names[place]!r} of {source}"
    if is_list(column.type):
        try:
            matrix = list_matrix(column.chunks, len(column), what)
            return as_label_names(matrix, what)
        except FeatureError as error:
            raise ArgumentError(str(error)) from None
    plain = is_number(column.type) and not column.null_count
    try:
        return as_label_names(column.to_numpy() if plain else column, what)
    except ArgumentError as error:
        hint = f"; {SKIP_HINT}" if _blank_cells(column) else ""
        raise ArgumentError(f"{error}{hint}") from None


def _ids(table: Table, place: int, source: str) -> Any:
    return new_ids(table.column(place), _column_of(table, place, source))


def _likely_id(table: Table, options: Options, source: str) -> str | None:
    """Return the column called id that was not asked for, if it could give ids."""
    if options.id is not None:
        return None
    for place, name in enumerate(table.names):
        if name.lower() != "id" or name in options.named():
            continue
        if table.in_memory:
            with suppress(ArgumentError):
                _ids(table, place, source)
                return name
        elif pa.types.is_integer(kind := table.fields[place].type) or is_text(kind):
            return name  # it is not read for that
    return None


# Rows without a text or a label


def _blank_cells(column: Any) -> list[int]:
    """Return the rows of a column that hold nothing, NaN, or white space alone."""
    if is_text(column.type):
        return blank_rows(Texts(column))
    missing = column.is_null(nan_is_null=True).to_numpy()
    rows: list[int] = np.flatnonzero(missing).tolist()
    return rows


def _without_blank(
    table: Table, needed: dict[int, str], source: str, *, has_ids: bool
) -> Table:
    """Return the rows that have what is needed at these places, and warn of others."""
    full = np.ones(len(table), np.bool_)
    for place, what in needed.items():
        rows = [row for row in _blank_cells(table.column(place)) if full[row]]
        full[rows] = False
        if rows:
            shown = ", ".join(map(str, rows[:_SKIPPED]))
            more = f" and {len(rows) - _SKIPPED:,} more" * (len(rows) > _SKIPPED)
            warn_user(
                f"{source}: {len(rows):,} of {len(table):,} rows left out, as column "
                f"{table.names[place]!r} has no {what} there: {shown}{more}"
                + ("" if has_ids else "; ids count the others")
            )
    return table if full.all() else table.of_rows(pa.array(full))
