"""A study: its grid, its records, its claims, and the page that is made of them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks._markdown import wrapped
from research.common.features import TITLES
from research.core import claims, compare, plot, record, table
from research.core.record import RESULTS, Record, store_of
from research.core.runner import Task

STUDIES = Path(__file__).parents[1] / "studies"
PAGES = Path(__file__).parents[2] / "docs" / "papers"
#: Of a page.
MOST_WORDS = 1100


def names() -> list[str]:
    """Return the names of all studies."""
    return sorted(path.parent.name for path in STUDIES.glob("*/grid.py"))


class Study:
    """A folder of `STUDIES`, and its records.

    Its ``grid.py`` has ``tasks(tiny)`` and, where they are needed, ``for_claims``,
    which derives settings that claims name, ``differs``, which says how a cell was
    measured otherwise than in the paper, and ``page``, which returns what the page
    shows beside the claims.

    Parameters
    ----------
    name : str
    folder : Path, default=RESULTS
        Where the records are.
    """

    def __init__(self, name: str, folder: Path = RESULTS) -> None:
        self.name, self.folder = name, folder
        self.store = store_of(name, folder)
        self._grid: Any = import_module(f"research.studies.{name}.grid")

    def tasks(self, tiny: bool = False) -> Iterator[Task]:
        """Yield what is run."""
        return iter(self._grid.tasks(tiny))

    @cached_property
    def records(self) -> list[Record]:
        """The measured records, as claims read them."""
        found: Iterable[Record] = self.store.read()
        return list(getattr(self._grid, "for_claims", list)(found))

    @property
    def titles(self) -> Mapping[str, str]:
        """The names of sets of data on pages."""
        return TITLES

    @cached_property
    def _claims(self) -> tuple[str, list[claims.Claim]]:
        return claims.load(STUDIES / self.name / "claims.toml")

    @property
    def paper(self) -> str:
        """The reference."""
        return self._claims[0]

    @cached_property
    def judged(self) -> list[list[claims.Finding]]:
        """The findings on each claim, on each set of data; none if not measured."""
        differs = getattr(self._grid, "differs", lambda _: "")
        return [claims.judge(each, self.records, differs) for each in self._claims[1]]

    def select(self, part: str, **only: Any) -> list[Record]:
        """Return the records of a part that meet conditions; see `claims.Claim`."""
        return [
            each
            for each in self.records
            if each.part == part and claims.meets(each.settings, only)
        ]

    def gap(
        self,
        part: str,
        metric: str,
        left: Mapping[str, Any],
        right: Mapping[str, Any],
        **only: Any,
    ) -> str:
        """Return a difference with its interval, at the one setting that is asked."""
        claim = claims.Claim(
            *("", "", part, metric, left, right, only), ignore=("share",)
        )
        (finding,) = claims.findings(claim, self.records, lambda _: "")
        return table.interval(finding.effect)

    def mean(self, part: str, metric: str, digits: int = 3, **only: Any) -> str:
        """Return the mean over seeds with its error, at the one setting asked."""
        (found,) = compare.over_seeds(self.select(part, **only), metric).values()
        return table.shown(found, digits)

    def curves(
        self, part: str, metric: str, methods: Sequence[str], **only: Any
    ) -> dict[str, plot.Curve]:
        """Return what a panel of the figure shows."""
        return plot.curves(self.select(part, **only), metric, methods)

    def panels(
        self, part: str, metric: str, methods: Sequence[str], sets: Any, **only: Any
    ) -> dict[str, dict[str, plot.Curve]]:
        """Return a panel for each set of data, by its title."""
        return {
            self.titles[data]: self.curves(part, metric, methods, data=data, **only)
            for data in sets
        }

    def grid(
        self, part: str, metric: str, methods: Sequence[str], **options: Any
    ) -> str:
        """Return a table with a line for each method; options as `table.grid` has."""
        only = {n: options.pop(n) for n in {*options} - {"columns", "errors"}}
        found = self.select(part, method=list(methods), **only)
        found.sort(key=lambda each: methods.index(each.settings["method"]))
        return table.grid(map(self.titled, found), metric, **options)

    def titled(self, record: Record) -> Record:
        """Return the record with its set of data as it is called."""
        data = record.settings["data"]
        return claims.with_settings(record, data=self.titles.get(data, data))

    def claim_table(self) -> str:
        """Return a line for each claim that was measured."""
        reasons = table.reasons(self.judged)
        several = len(reasons) > 1
        marks = {why: f" ({chr(97 + i)})" * several for i, why in enumerate(reasons)}
        rows = [
            table.claim_row(found, self.titles, marks) for found in self.judged if found
        ]
        lines = [table.markdown(table.CLAIM_HEADER, rows)]
        if reasons:
            said = "; ".join(f"{marks.get(why, '')} {why}".strip() for why in reasons)
            lines.append(f"{claims.NOT_AS_STATED.capitalize()}: {said}.")
        return "\n\n".join(lines)

    def page(self, folder: Path = PAGES) -> Path:
        """Write the page and its figure, and return where the page is."""
        folder.mkdir(parents=True, exist_ok=True)
        text = self._rendered(folder)
        n_words = len(re.findall(r"\S*\w\S*", text))
        if n_words > MOST_WORDS:
            raise SystemExit(f"{self.name}: {n_words} words, {MOST_WORDS} fit")
        path = folder / f"{self.name}.md"
        path.write_text(wrapped(text.rstrip()) + "\n", "utf-8")
        return path

    def _rendered(self, folder: Path) -> str:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        found = Environment(
            loader=FileSystemLoader(STUDIES / self.name),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        ).get_template("report.md.j2")

        def figure(**options: Any) -> str:
            """Draw the page's figure and return its file."""
            plot.panels(folder / f"{self.name}.svg", **options)
            return f"{self.name}.svg"

        return found.render(
            study=self,
            claims=self.claim_table(),
            figure=figure,
            titles=self.titles,
            **getattr(self._grid, "page", lambda _: {})(self),
        )

    def show(self, **only: str) -> Iterator[str]:
        """Yield every claim on every set, then every scalar metric of every part."""
        yield f"# {self.paper}"
        for found in self.judged:
            if found:
                claim = found[0].claim
                yield f"{claim.says} ({claim.where}), by {claim.part}/{claim.metric}"
                header = ["at", "effect", "verdict", "measured otherwise"]
                rows = [
                    [table.at(f, self.titles), table.effect_of(f), f.holds, f.differs]
                    for f in found
                ]
                yield table.markdown(header, rows)
        yield from self._tables(only)

    def _tables(self, only: Mapping[str, str]) -> Iterator[str]:
        """Yield a table of methods and lengths for each metric and other settings."""
        groups: dict[str, list[Record]] = {}
        for each in self.store.read():
            rest = {
                name: value
                for name, value in {"part": each.part, **each.settings}.items()
                if name not in ("method", "bits")
            }
            if all(str(rest.get(name)) == value for name, value in only.items()):
                title = ", ".join(f"{name}={value}" for name, value in rest.items())
                groups.setdefault(title, []).append(each)
        for title, found in groups.items():
            for metric in _scalars(found):
                yield f"## {title}: {metric}"
                yield table.grid(found, metric)


def _scalars(records: Iterable[Record]) -> list[str]:
    """Return the names of the metrics that are single numbers."""
    found = [name for each in records for name in _paths(each.metrics)]
    return list(dict.fromkeys(found))


def _paths(metrics: record.Metrics, before: str = "") -> Iterator[str]:
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            yield from _paths(value, f"{before}{name}/")
        elif isinstance(value, int | float):
            yield f"{before}{name}"
