"""Result of comparing methods: one table and one plot."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from fewbits._checks import check_choice
from fewbits._repr import one_line
from fewbits.errors import ArgumentError
from fewbits.report import Drawing
from fewbits.training._compared_plot import lines_drawing, side_by_side


@dataclass(frozen=True)
class MethodScores:
    """Metrics of one method at one length; None where they need labels.

    Attributes
    ----------
    method : str
        ``"vectors"`` for the float vectors themselves.
    n_bits : int or None
        None for the vectors.
    bytes_per_item : int
    ann_map : float
        Mean average precision of the Hamming ranking, where the base rows nearer to
        the query than the mean distance to the 50th neighbour are relevant.
    label_map : float or None
        Mean average precision by labels.
    recall : float
        Share of the `k` nearest base vectors among the first `k` by Hamming distance.
    recall_reranked : float
        The same after ranking a shortlist by the query's scores.
    svm : float or None
        Accuracy of a linear SVM, trained on codes of the base, on the queries.
    fit_seconds, encode_us : float
        Seconds to learn, and microseconds to encode a single vector.
    """

    method: str
    n_bits: int | None
    bytes_per_item: int
    ann_map: float
    label_map: float | None
    recall: float
    recall_reranked: float
    svm: float | None
    fit_seconds: float
    encode_us: float


_TITLES = {
    "ann_map": "ANN mAP",
    "label_map": "label mAP",
    "recall": "recall",
    "recall_reranked": "recall, re-ranked",
    "svm": "SVM",
    "fit_seconds": "seconds to learn",
    "encode_us": "microseconds to encode",
}
#: The metrics that a plot can show.
COMPARED_METRICS = tuple(_TITLES)


@dataclass(frozen=True)
class MethodComparison:
    """Result of `compare`.

    Attributes
    ----------
    scores : tuple of MethodScores
        The vectors themselves, then each method at each length.
    k, shortlist : int
        Neighbours that count, and rows that are ranked again.
    n_fit, n_base, n_queries : int
        Rows to learn from, to search among, and to search with; none is in two parts.
    refused : mapping of str to str
        Reason, by method and length, why it could not be learnt.
    """

    scores: tuple[MethodScores, ...]
    k: int
    shortlist: int
    n_fit: int
    n_base: int
    n_queries: int
    refused: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return one_line(self)

    def table(self) -> Any:
        """Return the scores as a ``pyarrow.Table``, one row for each."""
        import pyarrow as pa

        names = [each.name for each in fields(MethodScores)]
        columns = {name: [getattr(row, name) for row in self.scores] for name in names}
        return pa.table(columns)

    def to_pandas(self) -> Any:
        """Return the scores as a ``pandas.DataFrame``; pandas is not a dependency."""
        return self.table().to_pandas()

    def plot(self, metric: str | None = None) -> Drawing:
        """Draw metrics of every method against the number of bits.

        Parameters
        ----------
        metric : str, default=None
            ``ann_map``, ``label_map``, ``recall``, ``recall_reranked``, ``svm``,
            ``fit_seconds`` or ``encode_us``; None draws a panel for each that there is.

        Returns
        -------
        Drawing
            Its ``save`` writes a .svg file.

        Raises
        ------
        ArgumentError
            When there is no such metric, or it needs labels that there are not.
        """
        if metric is not None:
            check_choice(metric, "metric", COMPARED_METRICS)
        wanted = COMPARED_METRICS if metric is None else (metric,)
        lines = {name: found for name in wanted if (found := self._lines(name))}
        if not lines:
            why = "no codes were learnt" if metric is None else "it needs labels"
            raise ArgumentError(f"there is no {metric or 'metric'} to draw: {why}")
        return side_by_side(
            [lines_drawing(each, "bits", _TITLES[name]) for name, each in lines.items()]
        )

    def _lines(self, metric: str) -> dict[str, list[tuple[float, float]]]:
        """Return the points of each method; none where there are no labels."""
        lines: dict[str, list[tuple[float, float]]] = {}
        for row in self.scores:
            value = getattr(row, metric)
            if row.n_bits is not None and value is not None:
                lines.setdefault(row.method, []).append((row.n_bits, value))
        return lines

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)
