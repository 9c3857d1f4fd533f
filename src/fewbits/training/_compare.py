"""Comparison of methods on rows that none of them has learnt from."""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from fewbits._checks import check_count, check_k, check_seed
from fewbits._warnings import warn_user
from fewbits.encoders import Encoder, feature_blocks
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
from fewbits.index import FlatIndex
from fewbits.inputs import Input, read
from fewbits.learners import Learner
from fewbits.learners.fitting import interrupts_passed_on
from fewbits.training._alarms import checked_labels
from fewbits.training._compared import MethodComparison, MethodScores
from fewbits.training._fit import features_of
from fewbits.training._methods import make_learner, method_of
from fewbits.training._own_parameters import own_parameters
from fewbits.training.tuning._timing import seconds_alone

Progress = Callable[[int, int], None]
Methods = str | Learner | Sequence[str | Learner] | Mapping[str, str | Learner]

_QUERY_SHARE, _FEWEST = 8, 40
_NEAR, _SVM_ROWS, _SVM_COST = 50, 5000, 1.0


def compare(
    methods: Methods,
    bits: int | Sequence[int],
    data: Any,
    *,
    k: int = 10,
    shortlist: int = 100,
    n_fit: int | None = None,
    n_queries: int = 1000,
    backbone: str | None = None,
    random_state: int = 0,
    parameters: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    notes: Callable[[str], None] | None = None,
) -> MethodComparison:
    """Compare methods by neighbours, by labels, and by time.

    Rows are drawn into three parts: learners are fitted to the first, searches go
    through the base, and queries are in neither, as in a collection that grows.

    Parameters
    ----------
    methods : str, Learner, or sequence or mapping of them
        Names as `fewbits.training.METHODS` has them, or learners, of which clones are
        fitted; a mapping names them otherwise.
    bits : int or sequence of int
        Lengths of the codes. Methods that choose their length have one row.
    data : Input, or what `fewbits.inputs.read` takes
        Items, with labels for metrics by labels and methods that learn from them.
    k : int, default=10
        Nearest vectors that count for recall.
    shortlist : int, default=100
        Rows by Hamming distance that are ranked by the query's scores.
    n_fit : int, default=None
        Rows to learn from; None takes half of all but the queries. The rest is the
        base.
    n_queries : int, default=1000
        At most; no more than an eighth of the rows.
    backbone : str, default=None
        As for `fewbits.training.fit_bundle`.
    random_state : int, default=0
        Seed of the parts and of learners that are given by name.
    parameters : mapping, default=None
        Of learners that are given by name: of one as ``additive.correction``, or of
        all.
    progress : callable, default=None
        Called with (codes done, all), and while items become features with (items done,
        all items).
    notes : callable, default=None
        Called before that with a text: the method and the length that come next.

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
        When a method is unknown, two have the same name, labels are missing, or there
        are too few rows.
    FeatureError
        When a feature is not finite in float32; names the row.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(400, 16))
    >>> found = compare(["lsh", "itq"], [16, 32], X)
    >>> found.n_fit, found.n_base, found.n_queries
    (175, 175, 50)
    >>> found.table().column("method").to_pylist()
    ['vectors', 'lsh', 'lsh', 'itq', 'itq']

    Labels come with the items, as columns:

    >>> from fewbits.inputs import read
    >>> y = np.arange(400) % 4
    >>> columns = {"vector": X + 3 * np.eye(4, 16)[y], "class": y}
    >>> items = read(columns, column="vector", label="class")
    >>> compare(["itq", "cca-itq"], 16, items).scores[1].label_map > 0.3
    True
    """
    source = checked_labels(data if isinstance(data, Input) else read(data, columns=()))
    seed = check_seed(random_state)
    made = _made(_named(methods), parameters or {}, seed)
    asked = list(_asked(made, _lengths(bits), source))
    X = features_of(source, backbone, progress)
    for _ in feature_blocks(X):  # refuses a row by its number here, not in a part
        pass
    parts = _parts(source, X, n_fit, n_queries, seed)
    if check_k(k) > len(parts.base):
        raise ArgumentError(f"the base has {len(parts.base)} rows, too few for k={k}")
    by_labels = _are_telling(parts, source)
    trial = _Trial(
        parts, k, max(k, check_count(shortlist, "shortlist")), seed, by_labels
    )
    scores, refused = [trial.of_vectors()], {}
    try:
        for done, (name, learner) in enumerate(asked):
            if notes is not None:
                notes(name)
            if progress is not None:
                progress(done, len(asked))
            try:
                scores.append(trial.of_learner(name, learner))
            except FewbitsError as error:
                refused[_with_length(name, learner)] = str(error)
    except KeyboardInterrupt:
        if len(scores) == 1:
            raise
        n_done = len(scores) - 1 + len(refused)
        words = f"interrupted after {n_done} of {len(asked)} codes"
        warn_user(InterruptedWarning(words, n_done, len(asked)))
    sizes = len(parts.fit), len(parts.base), len(parts.queries)
    return MethodComparison(tuple(scores), k, trial.shortlist, *sizes, refused)


def _named(methods: Methods) -> dict[str, str | Learner]:
    """Return what is compared by name."""
    if isinstance(methods, Mapping):
        return {name: _method(each) for name, each in methods.items()}
    several = isinstance(methods, Iterable) and not isinstance(methods, str | type)
    given = [_method(each) for each in (methods if several else [methods])]
    names = [each if isinstance(each, str) else method_of(each) for each in given]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(
                f"two methods are called {name}: name them by a mapping, such as "
                f"{{'{name}, longer': learner}}"
            )
    return dict(zip(names, given, strict=True))


def _method(given: Any) -> str | Learner:
    """Return a name or a learner, or refuse what is neither."""
    if isinstance(given, str | Learner):
        return given
    if isinstance(given, type) and issubclass(given, Learner):
        name = given.__name__
        raise ArgumentError(f"got the class {name}: give a learner, such as {name}()")
    raise ArgumentError(
        "a method must be a name or a learner of fewbits, got "
        f"{given if given is None else type(given).__name__}"
    )


def _lengths(bits: int | Sequence[int]) -> list[int]:
    several = isinstance(bits, Iterable) and not isinstance(bits, str)
    given: Any = bits if several and getattr(bits, "ndim", 1) != 0 else [bits]
    return sorted({check_count(each, "a number of bits") for each in given})


def _made(
    methods: Mapping[str, str | Learner], parameters: Mapping[str, Any], seed: int
) -> dict[str, Learner]:
    """Return the learners of methods; those by name are made."""
    named = [each for each in methods.values() if isinstance(each, str)]
    own = own_parameters(named, parameters)
    return {
        name: given
        if isinstance(given, Learner)
        else make_learner(given, None, seed, own[given])
        for name, given in methods.items()
    }


def _asked(
    methods: Mapping[str, Learner], lengths: Sequence[int], source: Input
) -> Iterator[tuple[str, Learner]]:
    """Yield an untrained learner for each method and length."""
    if not methods or not lengths:
        raise ArgumentError("name at least one method and one number of bits")
    for name, made in methods.items():
        if made.needs_labels and source.labels is None:
            raise ArgumentError(
                f"{name} learns from labels, and {source.source} comes without: "
                f"{source.labels_hint()}"
            )
        chooses = "n_bits" in made.get_params()
        for n_bits in lengths if chooses else lengths[:1]:
            learner = clone(made)
            yield name, learner.set_params(n_bits=n_bits) if chooses else learner


def _with_length(name: str, learner: Learner) -> str:
    n_bits = learner.get_params().get("n_bits")
    return name if n_bits is None else f"{name}, {n_bits} bits"


@dataclass(frozen=True, eq=False)
class _Parts:
    """Rows to learn from, to search among and to search with, and their labels."""

    fit: NDArray[Any]
    base: NDArray[Any]
    queries: NDArray[Any]
    labels: tuple[Any, Any, Any]


def _parts(
    source: Input, X: NDArray[Any], n_fit: int | None, n_queries: int, seed: int
) -> _Parts:
    """Draw the parts."""
    n = len(X)
    if n < _FEWEST:
        raise ArgumentError(
            f"{n} items are too few to compare on: {_FEWEST} are needed"
        )
    n_asked = min(check_count(n_queries, "n_queries"), n // _QUERY_SHARE)
    rest = n - n_asked
    n_learn = rest // 2 if n_fit is None else check_count(n_fit, "n_fit")
    if n_learn > rest - 2:
        raise ArgumentError(
            f"n_fit={n_learn} leaves no base of {n:,} rows: at most {rest - 2:,}"
        )
    order = np.random.default_rng(seed).permutation(n)
    rows = [np.sort(part) for part in np.split(order, [n_learn, rest])]
    y = source.labels
    fit, base, queries = (np.ascontiguousarray(X[part]) for part in rows)
    labels = tuple(None if y is None else y[part] for part in rows)
    return _Parts(fit, base, queries, labels)  # type: ignore[arg-type]


def _are_telling(parts: _Parts, source: Input) -> bool:
    """Return whether labels tell good rankings from bad; warn of those that do not."""
    _, y, asked = parts.labels
    if y is None:
        return False
    reason = _reason(y, asked, np.asarray(source.labels), source.source)
    if reason is not None:
        warn_user(f"{reason}: metrics by labels are left out")
    return reason is None


def _reason(
    y: NDArray[Any], asked: NDArray[Any], given: NDArray[Any], source: str
) -> str | None:
    """Return why the labels of base and queries are of no use, else None."""
    if (given == given[0]).all():
        return f"the labels of {source} are all the same"
    if (y == y[0]).all():
        return f"the labels of the base drawn from {source} are all the same"
    if _shared(y, asked):
        return None
    if given.ndim == 1 and len(np.unique(given)) == len(given):
        return f"the labels of {source} are all different"
    return f"no query drawn from {source} shares a label with the base"


def _shared(y: NDArray[Any], asked: NDArray[Any]) -> bool:
    """Return whether a query has a label, or one of several, that is in the base."""
    if y.ndim > 1:
        return bool((y.any(axis=0) & asked.any(axis=0)).any())
    return bool(np.isin(asked, y).any())


@dataclass(frozen=True, eq=False)
class _Trial:
    """Right answers to the queries, and the scores of codes by them."""

    parts: _Parts
    k: int
    shortlist: int
    seed: int
    by_labels: bool

    def of_vectors(self) -> MethodScores:
        """Return the scores of the float vectors: a reference without codes."""
        base, queries = self.parts.base, self.parts.queries
        by_label = None
        if self._alike is not None:
            found = mean_average_precision(
                queries, base, self._alike, metric="euclidean"
            )
            by_label = found.value
        svm = self._svm(base, queries, None)
        n_bytes = 4 * base.shape[1]
        return MethodScores(
            "vectors", None, n_bytes, 1.0, by_label, 1.0, 1.0, svm, 0.0, 0.0
        )

    def of_learner(self, name: str, learner: Learner) -> MethodScores:
        """Return the scores of codes, learnt now."""
        start = time.perf_counter()
        with warnings.catch_warnings(), interrupts_passed_on():
            warnings.simplefilter("ignore", UserWarning)  # bad codes have bad scores
            warnings.simplefilter("error", InterruptedWarning)
            learner.fit(
                self.parts.fit, self.parts.labels[0] if learner.needs_labels else None
            )
        seconds = time.perf_counter() - start
        encoder: Encoder = learner.encoder_
        (alone,) = seconds_alone([encoder], self.parts.queries)
        base, asked = (encoder.encode(X) for X in (self.parts.base, self.parts.queries))
        near = mean_average_precision(asked, base, self._near).value
        alike = None
        if self._alike is not None:
            alike = mean_average_precision(asked, base, self._alike).value
        beside = encoder.corrections(self.parts.base, base)
        again = FlatIndex(base).search_reranked(
            asked,
            self.k,
            scores=encoder.query_scores(self.parts.queries),
            offsets=beside or encoder.offsets,
            shortlist=self.shortlist,
        )
        return MethodScores(
            method=name,
            n_bits=encoder.n_bits,
            bytes_per_item=base.shape[1] + (0 if beside is None else beside.n_bytes),
            ann_map=near,
            label_map=alike,
            recall=neighbour_recall(asked, base, self._nearest, self.k).value,
            recall_reranked=search_recall(again.ids, self._nearest).value,
            svm=self._svm(base, asked, encoder.n_bits),
            fit_seconds=round(seconds, 3),
            encode_us=round(1e6 * alone, 3),
        )

    def _svm(self, base: Any, asked: Any, n_bits: int | None) -> float | None:
        """Return the accuracy of a linear SVM, of rows of a mean square of 1."""
        _, y, truth = self.parts.labels
        if not self.by_labels or y.ndim > 1:
            return None
        rows = np.random.default_rng(self.seed).permutation(len(y))[:_SVM_ROWS]
        if len(np.unique(y[rows])) < 2:  # of a large base
            return None
        train = base[np.sort(rows)]
        square = n_bits or float(np.mean(np.sum(train.astype(np.float64) ** 2, axis=1)))
        C = _SVM_COST / square
        found = svm_accuracy(train, y[np.sort(rows)], asked, truth, n_bits=n_bits, C=C)
        return found.value

    @cached_property
    def _near(self) -> Relevance:
        base, near = self.parts.base, min(_NEAR, len(self.parts.base) - 1)
        threshold = neighbour_threshold(base, near, random_state=self.seed)
        return within_distance(self.parts.queries, base, threshold)

    @cached_property
    def _alike(self) -> Relevance | None:
        _, y, asked = self.parts.labels
        return same_label(asked, y) if self.by_labels else None

    @cached_property
    def _nearest(self) -> NDArray[np.int64]:
        return exact_neighbours(self.parts.queries, self.parts.base, self.k).ids
