"""``fewbits apply``."""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

from fewbits.cli import _options as opt
from fewbits.cli._changes import print_change
from fewbits.errors import ArgumentError, FewbitsError, one_line

if TYPE_CHECKING:
    from fewbits.collection import Collection

#: What a line may say, and what is said of it afterwards.
_VERBS = dict(add="added", upsert="upserted", update="updated", delete="deleted")
_VERBS["drop_columns"] = "columns_dropped"
_MOST = 1 << 16  # lines that become one change


def apply(
    collection: opt.CollectionPath,
    changes: Annotated[
        str, Argument(metavar="CHANGES", help="A .jsonl file, or - for standard input.")
    ],
    timeout: opt.Timeout = None,
    as_json: opt.Json = False,
) -> None:
    """Apply the changes of a file to COLLECTION in one commit: all of them, or none.

    Each line is one change, and sees those before it: {"add": ROW}, {"upsert": ROW},
    {"update": ROW}, {"update": {"filter": CONDITION, "row": ROW}}, {"delete": ID},
    {"delete": {"filter": CONDITION}} or {"drop_columns": {"columns": [NAME, ...]}}. A
    row has the id and the columns by name, as in a .jsonl file for `add`, `upsert` and
    `update`; with a filter it has no id, as all items that meet it get its values.

    Example: fewbits apply my-collection changes.jsonl
    """
    col = opt.open_at(collection)
    id_name = col.facts.id_column or "id"
    source = "standard input" if changes == "-" else changes
    with (
        nullcontext(sys.stdin.buffer) if changes == "-" else open(changes, "rb") as file
    ):
        batches = [*_batches(file, id_name)]
    counts: Counter[str] = Counter()
    with col.transaction(timeout=timeout), tempfile.TemporaryDirectory() as folder:
        for verb, first, values in batches:
            try:
                counts[_VERBS[verb]] += _changed(col, verb, values, Path(folder))
            except FewbitsError as error:
                last = first + len(values) - 1
                lines = f"lines {first} to {last}" if last > first else f"line {first}"
                raise ArgumentError(f"{source}, {lines}: {error}") from error
    done = {name: counts[name] for name in _VERBS.values() if name in counts}
    print_change(collection, col, as_json, **done or {"changed": 0})


def _batches(
    lines: Iterable[bytes], id_name: str
) -> Iterator[tuple[str, int, list[Any]]]:
    """Yield lines that do the same to items that differ: verb, first, and values."""
    first, kind, ids, values = 0, ("", frozenset[str]()), set[Any](), list[Any]()
    for number, line in enumerate(lines, 1):
        verb, value = _change(line, number)
        is_row = isinstance(value, dict)
        columns = frozenset(value if is_row else ())
        # Without an id, each stands for itself: `update` and `upsert` refuse it.
        id = value.get(id_name, (number,)) if is_row else value
        if values and (kind != (verb, columns) or id in ids or len(values) >= _MOST):
            yield kind[0], first, values
            ids, values = set(), []
        if not values:
            first, kind = number, (verb, columns)
        values.append(value)
        ids.add(id)
    if values:
        yield kind[0], first, values


def _change(line: bytes, number: int) -> tuple[str, Any]:
    """Return the verb and the value of a line."""
    from fewbits.inputs import strict_json

    why, change = "", None
    try:
        change = strict_json(line.decode())
    except (ValueError, RecursionError) as error:
        why = f" ({one_line(error)})"
    verb, value = None, None
    if isinstance(change, dict) and len(change) == 1:
        ((verb, value),) = change.items()
    is_id = verb == "delete" and type(value) in (str, int)
    if verb not in _VERBS or not (is_id or isinstance(value, dict)):
        text = line.decode(errors="replace").strip()[:60]
        raise ArgumentError(
            f'line {number} is no change, which looks like {{"add": {{...}}}} or '
            f'{{"delete": 7}}: {text!r}{why}'
        )
    return verb, value


def _changed(col: "Collection", verb: str, values: list[Any], folder: Path) -> int:
    from fewbits._arrow import split_names

    if verb == "delete":
        if not isinstance(values[0], dict):
            return col.delete(values)
        if [*values[0]] != ["filter"]:
            raise ArgumentError('delete takes an id, or {"filter": CONDITION}')
        return sum(col.delete(filter=value["filter"]) for value in values)
    if verb == "drop_columns":
        if any([*value] != ["columns"] for value in values):
            raise ArgumentError('drop_columns takes {"columns": [NAME, ...]}')
        n_dropped = 0
        for value in values:
            col.drop_columns(value["columns"])
            n_dropped += len({*split_names(value["columns"], col.columns)})
        return n_dropped
    by_filter = verb == "update" and values[0].keys() == {"filter", "row"}
    if by_filter and (col.facts.id_column or "id") not in values[0]:
        return sum(
            col.update(_file_of([value["row"]], folder), filter=value["filter"])
            for value in values
        )
    path = _file_of(values, folder)
    if verb == "update":
        return col.update(path)
    return col.add(path) if verb == "add" else col.upsert(path)


def _file_of(rows: list[Any], folder: Path) -> Path:
    """Write rows, which are read then as any file of rows is."""
    path = folder / "rows.jsonl"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path
