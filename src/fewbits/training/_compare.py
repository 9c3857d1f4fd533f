"""Comparison of methods on rows that none of them has learnt from, and the choice."""

import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from fewbits._checks import check_choice, check_count, check_k, check_seed
from fewbits._repr import short_repr
from fewbits._warnings import warn_user
from fewbits.codes import n_bytes
from fewbits.encoders import feature_blocks
from fewbits.errors import ArgumentError, FewbitsError, InterruptedWarning
from fewbits.evaluation import (
    Relevance,
    exact_neighbours,
    mean_average_precision,
    neighbour_recall,
    neighbour_threshold,
    same_label,
    search_recall,
    within_distance,
)
from fewbits.evaluation.classification import svm_accuracy
from fewbits.evaluation.statistics import Interval, mean_interval
from fewbits.index import FlatIndex, Int8Vectors
from fewbits.inputs import Input, read
from fewbits.learners import ITQ, AdditiveCodes, Learner
from fewbits.learners.fitting import interrupts_passed_on
from fewbits.report import Drawing
from fewbits.training._compare_plot import lines_drawing, side_by_side
from fewbits.training._fit import check_labelled, checked_labels, features_of
from fewbits.training._methods import (
    changed_parameters,
    make_learner,
    method_of,
    own_parameters,
)

Progress = Callable[[int, int], None]
Methods = str | Learner | Sequence[str | Learner] | Mapping[str, str | Learner]

_QUERY_SHARE, _FEWEST = 8, 40
_NEAR, _SVM_ROWS, _SVM_COST = 50, 5000, 1.0
_USUAL_BITS, _BITS_TO_CHOOSE = [64, 256], [16, 32, 64, 128, 256, 512, 1024]
#: Ranking more of the items again would not be that of a larger collection.
_USUAL_SHORTLIST, _SHORTLIST_SHARE = 100, 10
#: A query's time is the shortest of so many; threads of a BLAS spin for a while.
_TIMED, _SPIN_SECONDS = 10, 0.05
_MARGIN = 0.95  # of a bound on time, which a second measurement may exceed
_FINE = time.get_clock_info("process_time").resolution < 1e-6
_clock = time.process_time if _FINE else time.perf_counter

_TITLES = {
    "ann_map": "ANN mAP",
    "label_map": "label mAP",
    "recall": "recall",
    "recall_reranked": "recall, re-ranked by scores",
    "svm": "SVM",
    "fit_seconds": "seconds to learn",
    "encode_us": "microseconds to encode",
    "query_ms": "milliseconds a query",
}
#: The metrics that a plot can show.
COMPARED_METRICS = tuple(_TITLES)


@dataclass(frozen=True)
class MethodScores:
    """Metrics of one way to store and search items; None where they need labels.

    Attributes
    ----------
    method : str
        ``"vectors"``, ``"float16 vectors"`` and ``"int8 vectors"`` for full scans of
        the vectors themselves.
    n_bits : int or None
        None for the vectors.
    rerank : {None, "scores", "int8", "float16"}
        What re-ranks a shortlist: the query's scores, or stored vectors.
    bytes_per_item : int
        Of the code and of what is stored beside it.
    recall : float
        Share of the `k` nearest base vectors among the first `k` that are found, of
        items at the same Hamming distance the expected one.
    recall_low, recall_high : float
        Ends of its confidence interval of 95 %, by the queries drawn.
    query_ms : float
        Milliseconds of processor time from a single vector to its answer.
    ann_map : float
        Mean average precision of the Hamming ranking, where the base rows nearer to
        the query than the mean distance to the 50th neighbour are relevant.
    label_map : float or None
        Mean average precision by labels.
    svm : float or None
        Accuracy of a linear SVM, trained on codes of the base, on the queries.
    fit_seconds, encode_us : float
        Seconds to learn, and microseconds to encode a single vector.
    """

    method: str
    n_bits: int | None
    rerank: str | None
    bytes_per_item: int
    recall: float
    recall_low: float
    recall_high: float
    query_ms: float
    ann_map: float
    label_map: float | None
    svm: float | None
    fit_seconds: float
    encode_us: float

    __repr__ = short_repr

    def described(self) -> str:
        """Return the row in words: "lsh, 16 bits, re-ranked by float16 vectors"."""
        words = [self.method]
        if self.n_bits is not None:
            words.append(f"{self.n_bits:,} bits")
        if self.rerank is not None:
            vectors = "" if self.rerank == "scores" else " vectors"
            words.append(f"re-ranked by {self.rerank}{vectors}")
        return ", ".join(words)


@dataclass(frozen=True, eq=False)
class Choice:
    """The cheapest row that meets a target, or else the one that comes nearest.

    Attributes
    ----------
    scores : MethodScores
        As measured on the queries that chose it.
    learner : Learner
        Not fitted; it learns such codes.
    reached : bool
        Whether the row meets all bounds, its recall by the lower end of the interval.
    recall : Interval
        On other queries, which had no part in the choice.
    query_ms : float
        Timed again, with the other queries.
    confirmed : bool
        Whether the lower end of `recall`, and the time, meet their bounds as well.
    sentences : tuple of str
        The choice or the nearest miss, and what else is to be known of it.
    """

    scores: MethodScores
    learner: Learner
    reached: bool
    recall: Interval
    query_ms: float
    confirmed: bool
    sentences: tuple[str, ...]

    __repr__ = short_repr

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        method, parameters = method_of(self.learner), changed_parameters(self.learner)
        return {
            **vars(self),
            "scores": asdict(self.scores),
            "recall": self.recall._asdict(),
            "learner": {"method": method, "parameters": parameters},
        }


@dataclass(frozen=True)
class MethodComparison:
    """Result of `compare`.

    Attributes
    ----------
    scores : tuple of MethodScores
        Full scans of the vectors themselves, then each method at each length, with
        each re-ranking.
    k, shortlist : int
        Neighbours that count, and rows that are re-ranked.
    n_fit, n_base, n_queries : int
        Rows to learn from, to search among, and to search with; none is in two parts.
        As many queries again confirm a choice.
    refused : mapping of str to str
        Reason, by method and length, why it could not be learnt.
    choice : Choice or None
        Where there was a target.
    """

    scores: tuple[MethodScores, ...]
    k: int
    shortlist: int
    n_fit: int
    n_base: int
    n_queries: int
    refused: Mapping[str, str] = field(default_factory=dict)
    choice: Choice | None = None

    __repr__ = short_repr

    def frontier(self) -> list[MethodScores]:
        """Return the rows that none beats in bytes and recall, fewest bytes first."""
        best: list[MethodScores] = []
        for row in sorted(self.scores, key=lambda x: (x.bytes_per_item, -x.recall)):
            if not best or row.recall > best[-1].recall:
                best.append(row)
        return best

    def table(self) -> Any:
        """Return the scores as a ``pyarrow.Table``, one row for each."""
        import pyarrow as pa

        return pa.Table.from_pylist([asdict(row) for row in self.scores])

    def to_pandas(self) -> Any:
        """Return the scores as a ``pandas.DataFrame``; pandas is not a dependency."""
        return self.table().to_pandas()

    def plot(self, metric: str | None = None) -> Drawing:
        """Draw metrics of every method against the number of bits.

        Parameters
        ----------
        metric : str, default=None
            ``ann_map``, ``label_map``, ``recall``, ``recall_reranked`` (by scores),
            ``svm``, ``fit_seconds``, ``encode_us`` or ``query_ms``; None draws a panel
            for each that there is.

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
        panels = []
        for name in COMPARED_METRICS if metric is None else (metric,):
            rerank = "scores" if name == "recall_reranked" else None
            lines: dict[str, list[tuple[float, float]]] = {}  # of each method
            for row in self.scores:
                value = getattr(row, "recall" if rerank else name)
                if row.n_bits and row.rerank == rerank and value is not None:
                    lines.setdefault(row.method, []).append((row.n_bits, value))
            if lines:
                panels.append(lines_drawing(lines, "bits", _TITLES[name]))
        if not panels:
            why = "no codes were learnt" if metric is None else "it needs labels"
            raise ArgumentError(f"there is no {metric or 'metric'} to draw: {why}")
        return side_by_side(panels)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            **vars(self),
            "scores": [asdict(row) for row in self.scores],
            "choice": None if self.choice is None else self.choice.as_dict(),
        }


def compare(
    learners: Methods | None,
    bits: int | Sequence[int] | None,
    data: Any,
    *,
    k: int = 10,
    recall: float | None = None,
    bytes: int | None = None,
    latency: float | None = None,
    shortlist: int | None = None,
    n_fit: int | None = None,
    n_queries: int = 1000,
    backbone: str | None = None,
    random_state: int = 0,
    parameters: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    notes: Callable[[str], None] | None = None,
) -> MethodComparison:
    """Compare methods by neighbours, by labels, by bytes and by time; choose one.

    Rows are drawn into three parts: learners are fitted to the first, searches go
    through the base, and queries are in neither, as in a collection that grows. With a
    target (`recall`, `bytes` or `latency`) the cheapest row that meets it is chosen,
    and its recall is estimated once more on as many other queries, so that it holds for
    new rows.

    Parameters
    ----------
    learners : str, Learner, or sequence or mapping of them, or None
        Names as `fewbits.training.METHODS` has them, or learners, of which clones are
        fitted; a mapping names them otherwise. None takes lsh, a random rotation, itq,
        additive, neighbours, and with a target additive with corrections.
    bits : int or sequence of int, or None
        Lengths of the codes. Methods that choose their length have one. None takes 64
        and 256, or with a target powers of two up to 1024, as long as they can be the
        cheapest.
    data : Input, or what `fewbits.inputs.read` takes
        Items, with labels for metrics by labels and methods that learn from them.
    k : int, default=10
        Nearest vectors that count for recall.
    recall : float, default=None
        The least recall, above 0 and at most 1: of what reaches it by the lower end of
        its confidence interval, the fewest bytes are chosen, and of these the fastest.
    bytes : int, default=None
        The most bytes an item, stored vectors included. Without `recall` the row of
        the highest recall is chosen.
    latency : float, default=None
        The most milliseconds of processor time from a single vector to its answer.
    shortlist : int, default=None
        Rows by Hamming distance that are re-ranked. None takes 100, or a tenth of a
        base that is smaller than a thousand.
    n_fit : int, default=None
        Rows to learn from; None takes half of all but the queries. The rest is the
        base.
    n_queries : int, default=1000
        At most; no more than an eighth of the rows.
    backbone : str, default=None
        As for `fewbits.fit`.
    random_state : int, default=0
        Seed of the parts and of learners that are given by name.
    parameters : mapping, default=None
        Of learners that are given by name: of one as ``additive.correction``, or of
        all.
    progress : callable, default=None
        Called with (codes done, all), and while items become features with (items done,
        all items).
    notes : callable, default=None
        Called before that with a text: the method that comes next.

    Returns
    -------
    MethodComparison

    Warns
    -----
    InterruptedWarning
        When Ctrl-C ends it early; the result has what was measured before.
    UserWarning
        When labels are all the same or all different: metrics by labels are left out.

    Raises
    ------
    ArgumentError
        When a method is unknown, two have the same name, labels are missing, a bound
        is out of range, there are too few rows, or none of the methods suits a target's
        items. A target out of reach is no error: see `Choice.reached`.
    FeatureError
        When a feature is not finite in float32; names the row.

    Notes
    -----
    ``numpy.random.default_rng(random_state).permutation(n)`` orders the rows: those to
    learn from, the base, the queries, and with a target the queries that confirm.
    Recall falls as a collection grows: it is that among `n_base` items.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(400, 16))
    >>> comparison = compare(["lsh", "itq"], [16, 32], X)
    >>> comparison.n_fit, comparison.n_base, comparison.n_queries
    (175, 175, 50)
    >>> [row.described() for row in comparison.frontier()][:2]
    ['itq, 16 bits, re-ranked by scores', 'itq, 32 bits, re-ranked by scores']

    The best codes of 4 bytes, and what they find of the neighbours of new rows:

    >>> choice = compare(["lsh", "itq"], [16, 32], X, bytes=4).choice
    >>> choice.scores.described(), choice.recall.low > 0.3
    ('itq, 32 bits, re-ranked by scores', True)

    Labels come with the items, as columns:

    >>> from fewbits.inputs import read
    >>> y = np.arange(400) % 4
    >>> columns = {"vector": X + 3 * np.eye(4, 16)[y], "class": y}
    >>> items = read(columns, column="vector", label="class")
    >>> compare(["itq", "cca-itq"], 16, items).scores[3].label_map > 0.3
    True
    """
    source = checked_labels(data if isinstance(data, Input) else read(data, columns=()))
    seed = check_seed(random_state)
    if recall is not None and not 0 < recall <= 1:
        raise ArgumentError(f"recall lies above 0 and at most 1, got {recall:g}")
    if bytes is not None:
        bytes = check_count(bytes, "bytes")
    if latency is not None and not latency > 0:
        raise ArgumentError(f"a query takes more than 0 milliseconds, got {latency:g}")
    bounds = recall, bytes, latency
    target = None if bounds == (None, None, None) else _Target(*bounds)
    named = _usual(target, seed) if learners is None else _learners_by_name(learners)
    names = [method for method in named.values() if isinstance(method, str)]
    own = own_parameters(names, parameters or {})
    untrained = {
        name: method
        if isinstance(method, Learner)
        else make_learner(method, None, seed, own[method])
        for name, method in named.items()
    }
    planned = list(_planned(untrained, _lengths(bits, target), source))
    X = features_of(source, backbone, progress)
    for _ in feature_blocks(X):  # refuses a row by its number here, not in a part
        pass
    trial = _Trial(source, X, k, shortlist, n_fit, n_queries, seed, target)
    scans = trial.of_vectors()
    rows: list[_Row] = []
    refused: dict[str, str] = {}
    try:
        for done, (name, learner) in enumerate(planned):
            if notes is not None:
                notes(name)
            if progress is not None:
                progress(done, len(planned))
            n_bits = learner.get_params().get("n_bits")
            # A code that cannot be the cheapest any more.
            if bits is None and target is not None and target.recall is not None:
                sizes = [
                    x.scores.bytes_per_item for x in rows if target.meets(x.scores)
                ]
                if n_bytes(n_bits or 1) > min(sizes, default=math.inf):
                    continue
            try:
                rows += trial.of_learner(name, learner)
            except FewbitsError as error:
                words = name if n_bits is None else f"{name}, {n_bits} bits"
                refused[words] = str(error)
    except KeyboardInterrupt:
        if not rows:
            raise
        words = f"interrupted after {done} of {len(planned)} codes"
        warn_user(InterruptedWarning(words, done, len(planned)))
    order = [*untrained]
    rows.sort(key=lambda row: order.index(row.scores.method))
    choice = None if target is None else trial.choice(target, scans, rows, refused)
    return MethodComparison(
        (*scans, *(row.scores for row in rows)),
        trial.k,
        trial.shortlist,
        *(len(trial.fit), len(trial.base), len(trial.queries)),
        refused,
        choice,
    )


class _Target(NamedTuple):
    recall: float | None
    bytes: int | None
    latency: float | None

    def excess(self, row: MethodScores) -> float:
        """Return by what factor a bound is missed by most: at most 1 if none is."""
        # A recall must reach its bound by the lower end of its interval, and a time
        # stay 5 % below: of many rows, the one that just passes would fail next time.
        factors = [0.0]
        if self.recall is not None:
            factors.append(self.recall / max(row.recall_low, 1e-3))
        if self.bytes is not None:
            factors.append(row.bytes_per_item / self.bytes)
        if self.latency is not None:
            factors.append(row.query_ms / (_MARGIN * self.latency))
        return max(factors)

    def meets(self, row: MethodScores) -> bool:
        return self.excess(row) <= 1

    def cost(self, row: MethodScores) -> tuple[float, ...]:
        """Return what is least of the best: bytes, or with no recall its contrary."""
        # Times that differ by less than a third are level, and the better recall wins.
        steps = round(2 * math.log2(max(row.query_ms, 1e-6)))
        if self.recall is None:
            return -round(row.recall, 3), row.bytes_per_item, steps
        return row.bytes_per_item, steps, -row.recall

    def described(self, k: int) -> str:
        words = []
        if self.recall is not None:
            words.append(f"a recall@{k} of {self.recall:g}")
        if self.bytes is not None:
            words.append("1 byte an item" if self.bytes == 1 else f"{self.bytes} bytes")
        if self.latency is not None:
            words.append(f"{self.latency:g} ms a query")
        return " with ".join([words[0], " and ".join(words[1:])][: len(words)])


def _usual(target: _Target | None, seed: int) -> dict[str, str | Learner]:
    """Return what is compared unless methods are named."""
    # Signs of a random rotation find as much as what is learnt, re-ranked by scores.
    usual: dict[str, str | Learner] = {
        "lsh": "lsh",
        "random rotation": ITQ(n_iter=0, random_state=seed),
        "itq": "itq",
        "additive": "additive",
    }
    if target is not None:
        corrected = AdditiveCodes(correction=True, random_state=seed)
        usual["additive with corrections"] = corrected
    return {**usual, "neighbours": "neighbours"}


def _learners_by_name(methods: Methods) -> dict[str, str | Learner]:
    if isinstance(methods, Mapping):
        pairs = list(methods.items())
    else:
        is_one = isinstance(methods, str | type) or not hasattr(methods, "__iter__")
        pairs = [("", method) for method in ([methods] if is_one else methods)]
    learners: dict[str, str | Learner] = {}
    for name, method in pairs:
        if not isinstance(method, str | Learner):
            what = method if method is None else type(method).__name__
            if isinstance(method, type):
                kind = method.__name__
                what = f"the class {kind}: give a learner, such as {kind}()"
            raise ArgumentError(
                f"a method must be a name or a learner of fewbits, got {what}"
            )
        name = name or (method if isinstance(method, str) else method_of(method))
        if name in learners:
            raise ArgumentError(
                f"two methods are called {name}: name them by a mapping, such as "
                f"{{'{name}, longer': learner}}"
            )
        learners[name] = method
    return learners


def _lengths(bits: int | Sequence[int] | None, target: _Target | None) -> list[int]:
    if bits is None and target is None:
        return _USUAL_BITS
    if bits is None:
        most = _BITS_TO_CHOOSE[-1]
        if target is not None and target.bytes is not None:
            most = min(most, 8 * target.bytes)
        return [*(n for n in _BITS_TO_CHOOSE if n < most), most]
    numbers: Any = [bits] if np.ndim(bits) == 0 else bits
    return sorted({check_count(number, "a number of bits") for number in numbers})


def _planned(
    learners: Mapping[str, Learner], lengths: Sequence[int], source: Input
) -> Iterator[tuple[str, Learner]]:
    """Yield an untrained learner for each length and method, short codes first."""
    if not learners or not lengths:
        raise ArgumentError("name at least one method and one number of bits")
    for name, learner in learners.items():
        if learner.needs_labels:
            check_labelled(source, name)
        if "n_bits" not in learner.get_params():  # it chooses the length
            yield name, clone(learner)
    for n_bits in lengths:
        for name, learner in learners.items():
            if "n_bits" in learner.get_params():
                yield name, clone(learner).set_params(n_bits=n_bits)


class _Row(NamedTuple):
    scores: MethodScores
    learner: Learner
    recall: Interval  # of the queries that confirm
    query_ms: float


class _Trial:
    """The parts of the rows, what is right for the queries, and how codes do."""

    def __init__(
        self,
        source: Input,
        X: NDArray[Any],
        k: int,
        shortlist: int | None,
        n_fit: int | None,
        n_queries: int,
        seed: int,
        target: _Target | None,
    ) -> None:
        n = len(X)
        if n < _FEWEST:
            raise ArgumentError(
                f"{n} items are too few to compare on: {_FEWEST} are needed"
            )
        n_queries = min(check_count(n_queries, "n_queries"), n // _QUERY_SHARE)
        rest = n - n_queries * (1 if target is None else 2)
        n_learn = rest // 2 if n_fit is None else check_count(n_fit, "n_fit")
        if n_learn > rest - 2:
            raise ArgumentError(
                f"n_fit={n_learn} leaves no base of {n:,} rows: at most {rest - 2:,}"
            )
        order = np.random.default_rng(seed).permutation(n)
        parts = np.split(order, [n_learn, rest, rest + n_queries])
        parts = [np.sort(part) for part in parts]
        self.fit, self.base, self.queries, confirming = (
            np.ascontiguousarray(X[part]) for part in parts
        )
        y: Any = source.labels
        labels: list[Any] = [None if y is None else y[part] for part in parts[:3]]
        self.fit_labels, self.base_labels, self.query_labels = labels
        self.k, self.seed = check_k(k), seed
        if self.k > len(self.base):
            raise ArgumentError(
                f"the base has {len(self.base)} rows, too few for k={k}"
            )
        if shortlist is None:
            shortlist = min(_USUAL_SHORTLIST, len(self.base) // _SHORTLIST_SHARE)
        self.shortlist = max(self.k, check_count(shortlist, "shortlist", 0))
        # The queries that choose, and those that confirm, with their true neighbours.
        self.sides = [
            (side, exact_neighbours(side, self.base, self.k).ids)
            for side in (self.queries, confirming)
            if len(side)
        ]
        near = min(_NEAR, len(self.base) - 1)
        threshold = neighbour_threshold(self.base, near, random_state=seed)
        self.near = within_distance(self.queries, self.base, threshold)
        self.alike: Relevance | None = None
        if y is not None and _are_telling(self.base_labels, self.query_labels, source):
            self.alike = same_label(self.query_labels, self.base_labels)
        # Stored in fewer bytes, with what a row takes.
        d = X.shape[1]
        with np.errstate(over="ignore"):
            half = self.base.astype(np.float16)
        int8 = Int8Vectors.from_vectors(self.base)
        self.stored: dict[str, tuple[Any, int]] = {
            "int8": (int8, d + int8.blocks[0].nbytes)
        }
        if np.isfinite(half).all():
            self.stored["float16"] = (half, 2 * d)

    def of_vectors(self) -> list[MethodScores]:
        """Return scores of full scans of the vectors: a reference without codes."""
        base, (queries, nearest) = self.base, self.sides[0]
        by_label = self._label_map(queries, base, metric="euclidean")
        svm = self._svm(base, queries, None)
        X = np.asarray(base, np.float32)
        squares = np.einsum("ij,ij->i", X, X)

        def scan(query: NDArray[Any]) -> None:
            distances = squares - 2 * (X @ query[0].astype(np.float32))
            np.argpartition(distances, min(self.k, len(X) - 1))

        time.sleep(_SPIN_SECONDS)
        with threadpool_limits(1):
            ms = _milliseconds(scan, queries)
        scans = []
        for name in ("", *reversed(self.stored)):
            form, size = self.stored.get(name, (None, 4 * X.shape[1]))
            recall = Interval(1.0, 1.0, 1.0, len(queries))
            if name:
                floats = form.to_float() if name == "int8" else form.astype(np.float32)
                ids = exact_neighbours(queries, floats, self.k).ids
                recall = mean_interval(search_recall(ids, nearest).per_query)
            at = f"{name} vectors".lstrip(), None, None, size, *recall[:3], ms
            scans.append(MethodScores(*at, 1.0, by_label, svm, 0.0, 0.0))
        return scans

    def of_learner(self, name: str, learner: Learner) -> list[_Row]:
        """Return rows of codes that are learnt now, with each re-ranking."""
        y = self.fit_labels if learner.needs_labels else None
        start = time.perf_counter()
        with warnings.catch_warnings(), interrupts_passed_on():
            warnings.simplefilter("ignore", UserWarning)  # bad codes have bad scores
            warnings.simplefilter("error", InterruptedWarning)
            learner.fit(self.fit, y)
        fit_seconds = round(time.perf_counter() - start, 3)
        encoder = learner.encoder_
        codes, queries = encoder.encode(self.base), encoder.encode(self.queries)
        index = FlatIndex(codes)
        beside = encoder.corrections(self.base, codes)
        offsets = beside or encoder.offsets

        def search(rerank: str | None, X: NDArray[Any]) -> NDArray[np.int64]:
            if rerank is None:
                return index.search(encoder.encode(X), self.k).ids
            by: dict[str, Any] = {"query_vectors": X}
            if rerank == "scores":
                by = {"scores": encoder.query_scores(X), "offsets": offsets}
            else:
                by["vectors"] = self.stored[rerank][0]
            return index.search_reranked(
                encoder.encode(X), self.k, shortlist=self.shortlist, **by
            ).ids

        def recall(rerank: str | None, X: NDArray[Any], nearest: Any) -> Interval:
            if rerank is None:  # the expected order of ties
                score = neighbour_recall(encoder.encode(X), codes, nearest, self.k)
            else:
                score = search_recall(search(rerank, X), nearest)
            return mean_interval(score.per_query)

        time.sleep(_SPIN_SECONDS)
        encode_us = 1e3 * _milliseconds(encoder.encode, self.queries)
        reranks = (None, "scores", *self.stored)
        times = [
            [_milliseconds(partial(search, by), X) for X, _ in self.sides]
            for by in reranks
        ]
        of_codes: dict[str, Any] = {
            "ann_map": mean_average_precision(queries, codes, self.near).value,
            "label_map": self._label_map(queries, codes),
            "svm": self._svm(codes, queries, encoder.n_bits),
            "fit_seconds": fit_seconds,
            "encode_us": round(encode_us, 3),
        }
        size = codes.shape[1] + (0 if beside is None else beside.n_bytes)
        rows = []
        for rerank, ms in zip(reranks, times, strict=True):
            recalls = [recall(rerank, *side) for side in self.sides]
            scores = MethodScores(
                name,
                encoder.n_bits,
                rerank,
                size + self.stored.get(rerank or "", (None, 0))[1],
                *recalls[0][:3],
                ms[0],
                **of_codes,
            )
            rows.append(_Row(scores, clone(learner), recalls[-1], ms[-1]))
        return rows

    def choice(
        self,
        target: _Target,
        scans: list[MethodScores],
        rows: list[_Row],
        refused: Mapping[str, str],
    ) -> Choice:
        """Return the cheapest row of codes that meets the target, or the nearest."""
        if not rows:
            reason = next(iter(refused.values()), None)
            raise ArgumentError(f"nothing compared suits the items: {reason}")

        def rank(row: _Row) -> tuple[float, ...]:
            excess = max(1.0, round(target.excess(row.scores), 3))
            return excess, *target.cost(row.scores)

        best, learner, recall, ms = min(rows, key=rank)
        reached = target.meets(best)
        sure = target.recall is None or recall.low >= target.recall
        in_time = target.latency is None or ms <= target.latency
        size, least = _bytes(best.bytes_per_item), target.recall
        if reached:
            notes = [
                f"{best.described()}: recall@{self.k} {recall} on {recall.n:,} other "
                f"queries among {len(self.base):,} items, {size} an item, {ms:.3g} ms "
                "of processor time a query"
            ]
            if not sure:
                notes.append(
                    "not sure: on queries that had no part in the choice, the lower "
                    f"end of the interval is below {least:g}; ask for a little more, "
                    "or compare with more queries"
                )
            if not in_time:
                notes.append(
                    f"timed again, a query took {ms:.3g} ms: ask for a little less, or "
                    "the machine was busy"
                )
        else:
            interval = Interval(best.recall, best.recall_low, best.recall_high, 0)
            words = (
                f"nothing reaches {target.described(self.k)}: the nearest is "
                f"{best.described()} with a recall@{self.k} of {interval}, {size} an "
                f"item, {best.query_ms:.3g} ms a query"
            )
            if least is not None and best.recall >= least > best.recall_low:
                n = len(self.queries)
                words += f"; {n:,} queries are too few to be sure of it"
            notes = [words]
        # Where the vectors themselves are as good, or as fast.
        fitting = [
            scan
            for scan in scans
            if target.meets(scan)
            and (not reached or target.cost(scan) <= target.cost(best))
        ]
        if fitting:
            scan = min(fitting, key=lambda row: row.bytes_per_item)
            notes.append(
                f"{scan.method} meet the target without any code, with a recall@"
                f"{self.k} of {scan.recall:.3f} in {_bytes(scan.bytes_per_item)} and "
                f"{scan.query_ms:.3g} ms a query: keep the vectors"
            )
        elif reached and scans[0].query_ms <= best.query_ms:
            notes.append(
                f"exact float search takes {scans[0].query_ms:.3g} ms of processor "
                "time a query, no more than the choice: codes save memory here, not "
                "time"
            )
        confirmed = reached and sure and in_time
        return Choice(best, learner, reached, recall, ms, confirmed, tuple(notes))

    def _svm(self, base: Any, queries: Any, n_bits: int | None) -> float | None:
        """Return the accuracy of a linear SVM, of rows of a mean square of 1."""
        y, truth = self.base_labels, self.query_labels
        if self.alike is None or y.ndim > 1:
            return None
        rows = np.random.default_rng(self.seed).permutation(len(y))[:_SVM_ROWS]
        rows = np.sort(rows)
        if len(np.unique(y[rows])) < 2:  # of a large base
            return None
        train = base[rows]
        square = n_bits or float(np.mean(np.sum(train.astype(np.float64) ** 2, axis=1)))
        C = _SVM_COST / square
        return svm_accuracy(train, y[rows], queries, truth, n_bits=n_bits, C=C).value

    def _label_map(self, queries: Any, base: Any, **options: Any) -> float | None:
        if self.alike is None:
            return None
        return mean_average_precision(queries, base, self.alike, **options).value


def _bytes(count: int) -> str:
    return f"{count:,} byte" + "s" * (count != 1)


def _milliseconds(search: Callable[[NDArray[Any]], Any], X: NDArray[Any]) -> float:
    """Return the processor time of one query, the shortest of several."""
    # Other work on the machine only delays.
    times = []
    for row in range(min(len(X), _TIMED)):
        start = _clock()
        search(X[row : row + 1])
        times.append(_clock() - start)
    return round(1e3 * min(times), 6)


def _are_telling(y: Any, truth: Any, source: Input) -> bool:
    """Return whether labels tell good rankings from bad; warn of those that do not."""
    labels, name = np.asarray(source.labels), source.source
    if y.ndim > 1:
        shared = (y.any(axis=0) & truth.any(axis=0)).any()
    else:
        shared = np.isin(truth, y).any()
    if (labels == labels[0]).all():
        reason = f"the labels of {name} are all the same"
    elif (y == y[0]).all():
        reason = f"the labels of the base drawn from {name} are all the same"
    elif shared:
        return True
    elif labels.ndim == 1 and len(np.unique(labels)) == len(labels):
        reason = f"the labels of {name} are all different"
    else:
        reason = f"no query drawn from {name} shares a label with the base"
    warn_user(f"{reason}: metrics by labels are left out")
    return False
