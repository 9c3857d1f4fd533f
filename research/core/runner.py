"""Runs the cells of a grid that are not measured yet."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from research.core.record import Metrics, Record, Settings, Store, key_of


@dataclass(frozen=True)
class Task:
    """Cells that are measured together, mostly one.

    Attributes
    ----------
    part : str
        The part of the study.
    cells : sequence of mapping
        The settings of each cell, the seed among them.
    measure : callable
        Returns the metrics of each cell.
    """

    part: str
    cells: Sequence[Settings]
    measure: Callable[[], Sequence[Metrics]]

    @property
    def keys(self) -> list[str]:
        """The keys of the cells' records."""
        return [key_of(self.part, settings) for settings in self.cells]


def task(part: str, settings: Settings, measure: Callable[[], Metrics]) -> Task:
    """Return the task of a single cell."""
    return Task(part, [settings], lambda: [measure()])


def run(
    tasks: Iterable[Task],
    store: Store,
    only: Mapping[str, Sequence[str]] | None = None,
    report: Callable[[str], None] = print,
    again: bool = False,
) -> int:
    """Measure what is missing, and store each task when it is done.

    A run that is interrupted goes on where it ended.

    Parameters
    ----------
    tasks : iterable of Task
    store : Store
    only : mapping, optional
        Values of settings to run, as text, by name; ``part`` is a setting here.
    report : callable, default=print
        Takes a line of progress.
    again : bool, default=False
        Measure what is stored, too; the new record takes the place of the old one.

    Returns
    -------
    int
        The number of cells that were measured.
    """
    done = {record.key for record in store.read()}
    n_measured = 0
    for each in tasks:
        known = done.issuperset(each.keys) and not again
        if known or not wanted(each, only or {}):
            continue
        found = [
            Record.now(each.part, settings, rounded(metrics))
            for settings, metrics in zip(each.cells, each.measure(), strict=True)
        ]
        store.put(found)
        done.update(each.keys)
        n_measured += len(found)
        for record in found:
            report(f"{each.part} {_line(record.settings)} seed={record.seed}")
    return n_measured


def wanted(each: Task, only: Mapping[str, Sequence[str]]) -> bool:
    """Return whether any cell of a task has the settings that are asked for."""
    return any(
        all(
            str({"part": each.part, **settings}.get(name)) in values
            for name, values in only.items()
        )
        for settings in each.cells
    )


def rounded(value: Any, digits: int = 7) -> Any:
    """Return metrics with seven significant digits, and those of lists with five."""
    if isinstance(value, Mapping):
        return {key: rounded(each, digits) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each, 5) for each in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def _line(settings: Settings) -> str:
    return " ".join(f"{name}={value}" for name, value in settings.items())
