"""Result of tuning."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fewbits._repr import one_line
from fewbits.training.tuning._configuration import Configuration
from fewbits.training.tuning._floats import FloatScan
from fewbits.training.tuning._measured import Measured
from fewbits.training.tuning._target import Target


@dataclass(frozen=True)
class Tuning:
    """Result of tuning.

    Attributes
    ----------
    target : Target
    k : int
        Neighbours that count.
    best : Measured
        The choice, measured on the validation queries.
    reported : Measured
        The same configuration, measured on the test queries.
    frontier : list of Measured
        Pareto frontier of the round with the most rows.
    measured : list of Measured
        All configurations of that round.
    too_long : tuple of int
        Lengths that were given, or belong to a given method, and not tried:
        they take more bytes than allowed.
    beyond_axes : tuple of int
        Lengths that were given and not tried with ``pcah``: it has no more axes
        than there are features.
    untried : tuple of Configuration
        Configurations that were left out because the time was up, anchors first.
    not_tried : tuple of str
        Methods that were not among the candidates.
    floats : tuple of FloatScan
        Full scans of the vectors themselves, by the test queries.
    without_torch : tuple of str
        Methods that were left out because torch is not installed.
    refused : dict of str
        Reason, by method, why some of it could not be learnt.
    vector_bytes : int
        Bytes of an item's vector as float16, without a code.
    """

    target: Target
    k: int
    best: Measured
    reported: Measured
    frontier: list[Measured]
    measured: list[Measured]
    too_long: tuple[int, ...] = ()
    beyond_axes: tuple[int, ...] = ()
    untried: tuple[Configuration, ...] = ()
    not_tried: tuple[str, ...] = ()
    floats: tuple[FloatScan, ...] = ()
    without_torch: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    vector_bytes: int = 0

    def __repr__(self) -> str:
        return one_line(self)

    @property
    def reached(self) -> bool:
        """True if the choice meets the bounds of the target."""
        return self.target.meets(self.best)

    @property
    def n_untried(self) -> int:
        """Number of configurations that there was no time for."""
        return len(self.untried)

    @property
    def better_as_floats(self) -> FloatScan | None:
        """The smallest vectors that meet the bounds by a full scan, if codes gain none.

        Codes gain nothing where the choice does not meet the bounds, where they ask for
        quality and the vectors have as much, or for few bytes and the vectors take no
        more, nor more time. None where there are no such vectors.
        """
        fitting = [each for each in self.floats if self._affords(each)]
        if self.reached:
            fitting = [each for each in fitting if self._as_good(each)]
        return min(fitting, key=lambda each: each.bytes_per_item, default=None)

    def _as_good(self, floats: FloatScan) -> bool:
        """Return whether vectors are as good as the choice in what is optimised."""
        if self.target.objective == "bytes":
            small = floats.bytes_per_item <= self.target.sizes(self.best)[0]
            return small and floats.query_us <= self.best.query_us
        good = floats.quality >= self.reported.quality
        return good and self.target.objective == "quality"

    def _affords(self, floats: FloatScan) -> bool:
        most = self.target.max_query_ms
        fast = most is None or floats.query_us <= 1000 * most
        good = floats.quality >= (self.target.at_least or 0)
        size = floats.bytes_per_item
        return fast and good and self.target.affords_bytes(size, size)

    @property
    def configuration(self) -> Configuration:
        """The choice: ``fit_bundle(items, **configuration.options())``."""
        return self.best.configuration

    @property
    def measure(self) -> str:
        """Name of the quality, such as ``recall@10``."""
        name = self.target.quality
        return name if name == "map" else f"{name}@{self.k}"

    @property
    def confirmed(self) -> bool:
        """True if metrics on fresh queries meet the bounds, too."""
        return self.quality_confirmed and self.time_confirmed

    @property
    def quality_confirmed(self) -> bool:
        """True if queries that had no part in the choice reach the quality."""
        least = self.target.at_least
        return least is None or self.reported.quality >= least

    @property
    def time_confirmed(self) -> bool:
        """True if encoding, and a query, are fast enough when timed once more."""
        return self.target.meets_times(self.reported)

    def save(self, path: str | Path) -> None:
        """Write the choice, with its test results for information.

        Parameters
        ----------
        path : str or Path
            A file that `Configuration.load` reads; it is replaced whole.

        Raises
        ------
        OSError
            When the file cannot be written.
        """
        words = {"chosen": self.configuration.described(), "measure": self.measure}
        metrics = {**words, **self.reported.metrics()}
        self.configuration.save(path, metrics)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "measure": self.measure,
            "reached": self.reached,
            "confirmed": self.confirmed,
            "too_long": self.too_long,
            "beyond_axes": self.beyond_axes,
            "untried": self.n_untried,
            "not_tried": self.not_tried,
            "floats": [asdict(each) for each in self.floats],
            "without_torch": self.without_torch,
            "refused": dict(self.refused),
            "best": self.best.as_dict(),
            "reported": self.reported.metrics(),
            "frontier": [each.as_dict() for each in self.frontier],
        }
