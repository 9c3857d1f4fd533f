"""Measurements that are kept: one JSON line for each cell of an experiment."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "docs" / "results"

Cell = dict[str, Any]
#: Experiments with a file for each set of data, as one for all would be too large.
BY_DATA = (
    "llc",
    "posterior_control",
    "posterior_epochs",
    "posterior_unseen",
)


class Cells:
    """A file of measurements, keyed by what was measured.

    Parameters
    ----------
    name : str
        Name of the experiment; the file is ``docs/results/<name>.jsonl``, or one such
        as ``<name>-<data>.jsonl`` for each set of data.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._done = {_key(cell["cell"]): cell for cell in self}

    def __iter__(self) -> Iterator[Cell]:
        """Yield each cell; of one that was measured again, the last measurement."""
        last: dict[str, Cell] = {}
        files = [
            RESULTS / f"{self.name}.jsonl",
            *sorted(RESULTS.glob(f"{self.name}-*.jsonl")),
        ]
        for path in (path for path in files if path.exists()):
            for line in path.read_text("utf-8").splitlines():
                found = json.loads(line)
                last[_key(found["cell"])] = found
        yield from last.values()

    def path(self, cell: Cell) -> Path:
        """Return the file where a cell is kept."""
        part = f"-{cell['data']}" if self.name in BY_DATA else ""
        return RESULTS / f"{self.name}{part}.jsonl"

    def get(self, cell: Cell) -> Cell | None:
        """Return the figures of a cell, if it was measured."""
        found = self._done.get(_key(cell))
        return None if found is None else found["figures"]

    def measure(
        self,
        cell: Cell,
        function: Callable[[], Cell],
        needed: str | None = None,
        *,
        again: bool = False,
    ) -> Cell:
        """Return the figures of `cell`, calling `function` only for new ones.

        A cell that was measured without the figure `needed` is measured `again`.
        """
        done = self._done.get(_key(cell))
        if done is None or again or (needed and needed not in done["figures"]):
            found = {"cell": cell, "figures": rounded(function())}
            with self.path(cell).open("a", encoding="utf-8") as file:
                file.write(json.dumps(found) + "\n")
            self._done[_key(cell)] = found
            print(json.dumps(found), flush=True)
        figures: Cell = self._done[_key(cell)]["figures"]
        return figures


def compact(path: Path) -> None:
    """Drop what was measured again from a file, unless it grows meanwhile."""
    content = path.read_text("utf-8")
    last: dict[str, str] = {}
    for line in content.splitlines(keepends=True):
        last[_key(json.loads(line)["cell"])] = line
    kept = "".join(last.values())
    if kept != content and path.stat().st_size == len(content.encode()):
        path.write_text(kept, "utf-8")


def rounded(value: Any, digits: int = 7) -> Any:
    """Return figures with seven significant digits, and those of curves with five.

    Terms of every iteration would otherwise fill files with noise.
    """
    if isinstance(value, dict):
        return {key: rounded(each, digits) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each, 5) for each in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def _key(cell: Cell) -> str:
    return json.dumps(cell, sort_keys=True)
