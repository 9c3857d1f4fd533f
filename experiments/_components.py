"""From how many principal components PiCoDes learn, chosen without novel classes."""

from functools import partial
from typing import Any

import numpy as np

from experiments._cells import Cells
from fewbits.evaluation import svm_accuracy
from fewbits.learners import PiCoDes

#: What is chosen from, None being all; by codes of so many bits.
COMPONENTS, CHOSEN_AT = (128, None), 64
#: For data of which some classes are set apart to choose parameters: chosen on them,
#: like the defaults of PiCoDes.
KNOWN_BEST = {"caltech101-1280": 128, "caltech101-classic": 128}
N_CLASSES, N_TRAIN, N_TEST = 25, 10, 25
SVM_COSTS = [0.001, 0.01, 0.1, 1.0]


def n_components_of(problem: Any) -> int | None:
    """Return which of `COMPONENTS` is best on classes that do not count in the result.

    Parameters
    ----------
    problem : object
        With the name of its `experiment` and of the data, `seed`, `X`, `y`, the rows
        `learn` to learn from, and the classes `aside` to choose on; what is learnt for
        the choice is learnt without them.
    """
    if problem.name in KNOWN_BEST:
        return KNOWN_BEST[problem.name]
    cells, found = Cells("picodes_components"), {}
    for n in COMPONENTS:
        key = {"experiment": problem.experiment}
        key |= {"data": problem.name, "seed": problem.seed, "components": n or 0}
        measured = cells.measure(key, partial(_figures, problem, n))
        found[n] = measured["accuracy"]
    return max(found, key=lambda n: found[n])


def _figures(problem: Any, n: int | None) -> dict[str, float]:
    X, y, aside = problem.X, problem.y, problem.aside
    learn = problem.learn[~np.isin(y[problem.learn], aside)]
    learner = PiCoDes(CHOSEN_AT, n_components=n, random_state=problem.seed)
    encoder = learner.fit(X[learn], y[learn]).encoder_
    rng = np.random.default_rng([problem.seed, 2])
    rows = [rng.permutation(np.flatnonzero(y == c)) for c in rng.permutation(aside)]
    large = [each for each in rows if len(each) >= N_TRAIN + N_TEST][:N_CLASSES]
    train = np.concatenate([each[:N_TRAIN] for each in large])
    test = np.concatenate([each[N_TRAIN : N_TRAIN + N_TEST] for each in large])
    sides = encoder.encode(X[train]), y[train], encoder.encode(X[test]), y[test]
    found = svm_accuracy(*sides, n_bits=CHOSEN_AT, C=SVM_COSTS)
    return {"accuracy": found.per_class_mean}
