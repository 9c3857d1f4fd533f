"""Means and standard errors over seeds, and the tables that show them."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from experiments._cells import Cell


def over_seeds(
    cells: Iterable[Cell], figure: str
) -> dict[tuple[Any, ...], tuple[float, float, int]]:
    """Return mean, standard error and count, keyed by the cell without its seed."""
    return {key: mean_and_error(each) for key, each in by_seed(cells, figure).items()}


def by_seed(cells: Iterable[Cell], figure: str) -> dict[tuple[Any, ...], list[float]]:
    """Return the values of every seed, keyed by the cell without its seed."""
    values: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    for cell in cells:
        if figure in cell["figures"]:
            key = tuple(v for k, v in sorted(cell["cell"].items()) if k != "seed")
            values[key].append(cell["figures"][figure])
    return values


def mean_and_error(values: Sequence[float]) -> tuple[float, float, int]:
    """Return the mean, its standard error (NaN for a single value) and the count."""
    n = len(values)
    mean = sum(values) / n
    if n == 1:
        return mean, math.nan, 1
    variance = sum((value - mean) ** 2 for value in values) / (n - 1)
    return mean, math.sqrt(variance / n), n


def shortest(cells: Iterable[Cell], figure: str) -> dict[tuple[Any, ...], float]:
    """Return the least over seeds, for times: other work only ever adds to them."""
    return {key: min(each) for key, each in by_seed(cells, figure).items()}


def machine_of(cells: Iterable[Cell]) -> str:
    """Return the processors and instruction sets of times, in brackets, if noted."""
    noted = {
        (each["figures"].get("cpu"), each["figures"].get("isa")): None for each in cells
    }
    texts = [", ".join(filter(None, pair)) for pair in noted]
    known = sorted(filter(None, texts))
    if not known:
        return ""
    rest = "; of some it was not noted" if "" in texts else ""
    return f" ({'; '.join(known)}{rest})"


Pick = Callable[[Cell], float | None]


def figure(name: str) -> Pick:
    """Return a function that picks a figure, where a cell has it."""
    return lambda found: found.get(name)


def by_method(
    cells: Iterable[Cell], pick: Pick, column: str
) -> dict[str, dict[Any, tuple[float, float, int]]]:
    """Return mean, error and count by method, then by another part of the cell.

    Parameters
    ----------
    pick : callable
        Takes the figures of a cell; None leaves it out.
    column : str
        The cells may differ in it, and in method and seed.
    """
    values: dict[str, dict[Any, list[float]]] = {}
    for cell in cells:
        value = pick(cell["figures"])
        if value is not None:
            found = values.setdefault(cell["cell"]["method"], {})
            found.setdefault(cell["cell"][column], []).append(value)
    return {
        method: {at: mean_and_error(each) for at, each in sorted(found.items())}
        for method, found in values.items()
    }


def grid(
    table: dict[str, dict[Any, tuple[float, float, int]]],
    label: str = "{}",
    digits: int = 3,
) -> str:
    """Return a Markdown table of what `by_method` found."""
    columns = sorted({at for found in table.values() for at in found})
    rows = [
        [
            name,
            *(shown(*found[at][:2], digits) if at in found else "" for at in columns),
        ]
        for name, found in table.items()
    ]
    return markdown(["", *(label.format(at) for at in columns)], rows)


def seeds_of(cells: Iterable[Cell]) -> str:
    """Say how many seeds the cells have, and how many of them have fewer."""
    counts = Counter(
        tuple(v for k, v in sorted(cell["cell"].items()) if k != "seed")
        for cell in cells
    )
    least, most = min(counts.values()), max(counts.values())
    fewer = sum(n < most for n in counts.values())
    span = f"{least}" if least >= most - 1 else f"{least} to {most - 1}"
    rest = f"; {span} in {fewer} of {len(counts)} settings" if fewer else ""
    return f"Seeds: {most}{rest}."


def not_measured(cells: Iterable[Cell], planned: Mapping[str, Iterable[int]]) -> str:
    """Say of which methods, at which lengths, there are no cells; nothing if all are.

    Parameters
    ----------
    planned : mapping
        The lengths of each method.
    """
    known = {(cell["cell"]["method"], cell["cell"]["bits"]) for cell in cells}
    found = []
    for method, lengths in planned.items():
        at = sorted(lengths)
        missing = [bits for bits in at if (method, bits) not in known]
        if missing:
            where = f" ({', '.join(map(str, missing))} bits)" * (missing != at)
            found.append(f"{method}{where}")
    return f"Not measured yet: {'; '.join(found)}." if found else ""


def left_out_of(cells: Iterable[Cell]) -> str:
    """Say how many queries have no true neighbour, of which ANN mAP knows nothing."""
    skipped = [cell["figures"].get("skipped", 0) for cell in cells]
    least, most = min(skipped), max(skipped)
    count = f"{least} to {most}" if least < most else f"{least}"
    return f"Queries of a seed without a true neighbour, left out of ANN mAP: {count}."


def curves_of(
    table: dict[str, dict[Any, tuple[float, float, int]]],
) -> dict[str, list[tuple[float, float, float]]]:
    """Return what `by_method` found as curves for a plot."""
    return {
        name: [
            (float(at), mean, 0.0 if math.isnan(error) else error)
            for at, (mean, error, _) in found.items()
        ]
        for name, found in table.items()
    }


def shown(mean: float, error: float, digits: int = 3) -> str:
    """Return ``.712 ± .004``, or the mean alone where the error is NaN."""
    text = decimal(mean, digits)
    return text if math.isnan(error) else f"{text} ± {decimal(error, digits)}"


def decimal(value: float, digits: int) -> str:
    """Return ``.712`` or ``20.9``: below one without the zero."""
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("0.") else text


def markdown(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table in Markdown."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)
