"""Novel classes, classified by a linear SVM on codes (figures 3, 4).

The classes are divided by the seed. Learners see up to 30 items of each known class; an
SVM is then trained on 10 items of each of 25 novel classes, its weight of errors chosen
by cross-validation on them, and tested on up to 25 others.
"""

import time
import warnings
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from fewbits.learners import PiCoDes, RelaxedPiCoDes
from fewbits.learners._picodes import LEAST_COMPONENTS
from research.common.classic import prepared
from research.common.features import first_of_each, load_features
from research.common.lp_beta import lp_beta_metrics
from research.common.svm import svm_of_best_cost
from research.core.record import Metrics, key_of, store_of

#: Novel classes, and items of each to train a linear SVM on, and to test it.
N_NOVEL, N_TRAIN, N_TEST = 25, 10, 25
#: Items of a known class, at most; known classes, at most: what PiCoDes can afford.
N_LEARN, MOST_KNOWN = 30, 100
#: Weights of errors for codes of up to 256 bits; rows of longer ones are longer, too.
SVM_COSTS, COSTS_UP_TO = (0.001, 0.01, 0.1, 1.0), 256
#: Principal components to choose from, 0 being all, by codes of so many bits.
COMPONENTS, CHOSEN_AT = (128, 0), 64
#: Chosen, like the defaults of PiCoDes, on the classes of `tuned_on`, if there are any.
TUNED = 128

Rows = NDArray[np.int64]


def tuned_on(name: str, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the classes on which parameters were chosen: some of Caltech-101's."""
    if not name.startswith("caltech101-"):
        return classes[:0]
    return np.random.default_rng(5).permutation(classes)[50:75]


def drawn(classes: NDArray[Any], most: int, seed: int) -> NDArray[Any]:
    """Return at most so many of the classes; fewer of them are among more of them."""
    # Of a generator of its own, so that everything else is drawn as without a limit.
    return np.random.default_rng([seed, 1]).permutation(classes)[:most]


def svm_costs(n_bits: int) -> list[float]:
    """Return the weights of errors that are tried on codes of a length."""
    return [cost * min(1.0, COSTS_UP_TO / n_bits) for cost in SVM_COSTS]


class Problem:
    """Items of known classes to learn from, and of novel ones to score by.

    The items of each known class, and all of the novel classes, are the same for every
    number of known classes.
    """

    experiment = "novel_classes"

    def __init__(
        self, name: str, seed: int, n_known: int = MOST_KNOWN, n_novel: int = N_NOVEL
    ) -> None:
        self.name, self.seed = name, seed
        self.raw, self.y = load_features(name, 0).joined()
        rng = np.random.default_rng(seed)
        classes, counts = np.unique(self.y, return_counts=True)
        fit_for_test = (counts >= N_LEARN) & ~np.isin(classes, tuned_on(name, classes))
        self.novel = rng.permutation(classes[fit_for_test])[:n_novel]
        others = np.setdiff1d(classes[counts >= N_TRAIN], self.novel)
        learn = self._rows(others, rng, 0, N_LEARN)
        self.known = drawn(others, n_known, seed)
        self.learn = learn[np.isin(self.y[learn], self.known)]
        state = rng.bit_generator.state
        self.train = self._rows(self.novel, rng, 0, N_TRAIN)
        rng.bit_generator.state = state  # the same order again
        self.test = self._rows(self.novel, rng, N_TRAIN, N_TRAIN + N_TEST)

    def _rows(
        self, classes: NDArray[Any], rng: np.random.Generator, start: int, stop: int
    ) -> Rows:
        each = [rng.permutation(np.flatnonzero(self.y == c)) for c in classes]
        return np.concatenate([rows[start:stop] for rows in each])

    @cached_property
    def X(self) -> NDArray[np.float32]:
        """All rows as learners see them, made without the novel classes."""
        return prepared(self.name, self.raw, self.learn)

    @property
    def held_out(self) -> NDArray[Any]:
        """The classes to choose parameters on: neither known nor novel."""
        return np.setdiff1d(self.y, np.concatenate([self.known, self.novel]))

    @cached_property
    def n_components(self) -> int | None:
        """From how many components PiCoDes learn, whatever the number of classes."""
        return n_components_of(problem_of(self.name, self.seed))

    def sides(self, Z: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """Return rows and labels to train the SVM on, then those to test it on."""
        return Z[self.train], self.y[self.train], Z[self.test], self.y[self.test]


@lru_cache(maxsize=2)
def problem_of(*args: Any) -> Problem:
    """Return a problem, the same one for all cells of a seed."""
    return Problem(*args)


def code_metrics(
    problem: Problem,
    learner: Any,
    n_learn: int = N_LEARN,
    *,
    from_chosen: bool = False,
) -> Metrics:
    """Learn on known classes; score a linear SVM on novel ones.

    PiCoDes learn from as many components as is their default, or as were chosen.
    """
    X, learn = problem.X, first_of_each(problem.learn, problem.y, n_learn)
    ours = isinstance(learner, PiCoDes | RelaxedPiCoDes)
    if from_chosen:
        learner.set_params(n_components=problem.n_components or X.shape[1])
    start = time.process_time()  # other processes do not count
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*ignores the code")
        encoder = learner.fit(X[learn], problem.y[learn]).encoder_
    seconds = time.process_time() - start
    sides = problem.sides(encoder.encode(X))
    svm = svm_of_best_cost(*sides, svm_costs(encoder.n_bits), encoder.n_bits)
    found = {
        "accuracy": svm.per_class_mean,
        "fit_seconds": round(seconds, 2),
    }
    if ours:
        found["objective"] = learner.objective_.tolist()
        n = learner.n_components or max(encoder.n_bits, LEAST_COMPONENTS)
        found |= {"idle": learner.n_idle_classes_, "components": n}
    return found


def float_metrics(problem: Problem, *, components: bool = False) -> Metrics:
    """Score a linear SVM on the features, or on what PiCoDes learn from."""
    X = problem.X
    if components and problem.n_components is not None:
        pca = PCA(problem.n_components, svd_solver="full").fit(X[problem.learn])
        X = pca.transform(X)
    # From about 0.1 to 100 for rows of a mean squared length of 1.
    decade = round(float(np.log10(np.mean(np.sum(X[problem.train] ** 2, axis=1)))))
    costs = [10.0 ** (power - decade) for power in range(-1, 3)]
    return {"accuracy": svm_of_best_cost(*problem.sides(X), costs).per_class_mean}


def kinds_metrics(problem: Problem) -> Metrics:
    """Score LP-beta on the kinds of descriptors."""
    return lp_beta_metrics(*problem.sides(problem.raw))


def n_components_of(problem: Any) -> int | None:
    """Return from how many components PiCoDes learn; None from all.

    Where classes of the data were not tuned on, those of `COMPONENTS` that are best on
    the classes ``problem.held_out``, which do not count in the result.
    """
    if len(tuned_on(problem.name, problem.y)):
        return TUNED
    known = {each.key: each.metrics for each in store_of("picodes").read("components")}
    at = {"experiment": problem.experiment, "data": problem.name, "seed": problem.seed}
    found = {
        n: (
            known.get(key_of("components", {**at, "components": n}))
            or components_metrics(problem, n)
        )["accuracy"]
        for n in COMPONENTS
    }
    return max(found, key=lambda n: found[n]) or None


def components_metrics(problem: Any, n: int) -> Metrics:
    """Score so many components on classes that are learnt without for that."""
    X, y, held_out = problem.X, problem.y, problem.held_out
    learn = problem.learn[~np.isin(y[problem.learn], held_out)]
    learner = PiCoDes(
        CHOSEN_AT, n_components=n or X.shape[1], random_state=problem.seed
    )
    encoder = learner.fit(X[learn], y[learn]).encoder_
    rng = np.random.default_rng([problem.seed, 2])
    rows = [rng.permutation(np.flatnonzero(y == c)) for c in rng.permutation(held_out)]
    large = [each for each in rows if len(each) >= N_TRAIN + N_TEST][:N_NOVEL]
    train = np.concatenate([each[:N_TRAIN] for each in large])
    test = np.concatenate([each[N_TRAIN : N_TRAIN + N_TEST] for each in large])
    sides = encoder.encode(X[train]), y[train], encoder.encode(X[test]), y[test]
    found = svm_of_best_cost(*sides, svm_costs(CHOSEN_AT), CHOSEN_AT)
    return {"accuracy": found.per_class_mean}
