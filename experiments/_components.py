"""From how many principal components PiCoDes learn, chosen without novel classes."""

from functools import partial
from typing import Any

import numpy as np

from experiments._cells import Cells
from experiments._novel_protocol import N_NOVEL, N_TEST, N_TRAIN, svm_costs, tuned_on
from fewbits.evaluation import svm_accuracy
from fewbits.learners import PiCoDes

#: What is chosen from, None being all; by codes of so many bits.
COMPONENTS, CHOSEN_AT = (128, None), 64
#: Chosen, like the defaults of PiCoDes, on the classes of `tuned_on`, if there are any.
TUNED = 128


def n_components_of(problem: Any) -> int | None:
    """Return which of `COMPONENTS` is best on classes that do not count in the result.

    Parameters
    ----------
    problem : object
        With the name of its `experiment` and of the data, `seed`, `X`, `y`, the rows
        `learn` to learn from, and the classes `aside` to choose on; what is learnt for
        the choice is learnt without them.
    """
    if len(tuned_on(problem.name, problem.y)):
        return TUNED
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
    large = [each for each in rows if len(each) >= N_TRAIN + N_TEST][:N_NOVEL]
    train = np.concatenate([each[:N_TRAIN] for each in large])
    test = np.concatenate([each[N_TRAIN : N_TRAIN + N_TEST] for each in large])
    sides = encoder.encode(X[train]), y[train], encoder.encode(X[test]), y[test]
    found = svm_accuracy(*sides, n_bits=CHOSEN_AT, C=svm_costs(CHOSEN_AT))
    return {"accuracy": found.per_class_mean}
