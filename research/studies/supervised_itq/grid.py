"""The grid: classes that were trained on, and new ones, searched in one collection.

Three in ten classes are new: none of their items is learnt from. Queries of both kinds
rank items of all classes, of which none was learnt from either.
"""

import time
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray
from fewbits.evaluation import mean_average_precision, same_label
from fewbits.evaluation.classification import knn_accuracy
from fewbits.learners import CCAITQ, DBC, ECOC, ITQ, SupervisedITQ
from fewbits.learners.deep import DeepHash, DeepSupervisedITQ, TrainingConfig
from fewbits.learners.deep.losses import CSQ
from research.common.problems import load_problem
from research.core.record import Metrics
from research.core.runner import Task, task
from research.core.table import decimal, markdown

if TYPE_CHECKING:
    from research.core.study import Study

DATA = ("icd10", "wordnet", "caltech101", "cifar10")
SEEDS, LENGTHS, SHARE_NEW = (0, 1, 2), (64, 256), 0.3
#: Of a code of ITQ's bits and supervised ones.
SHARE_SUPERVISED = 0.25
VALIDATED = "SupervisedITQ, validated"
DEEP_VALIDATED = "DeepSupervisedITQ, validated"
#: What is taken for known classes alone.
PREDICTABLE = "CSQ, predictable centres"
#: Of the figure.
DRAWN = ("ITQ", "CCA-ITQ", "SupervisedITQ, .5", VALIDATED, DEEP_VALIDATED)
DRAWN_ON, KINDS = ("icd10", "caltech101"), ("known", "new")
TRAINING = TrainingConfig(max_epochs=30, validation=0, eval_every=0)


def tasks(tiny: bool = False) -> Iterator[Task]:
    """Yield what is run; a tiny run takes seconds."""
    for data in ("digits",) if tiny else DATA:
        for seed in SEEDS[:1] if tiny else SEEDS:
            for n_bits in (8,) if tiny else LENGTHS:
                for method, learner in learners_of(n_bits, seed).items():
                    at = {"data": data, "bits": n_bits, "method": method, "seed": seed}
                    measured = partial(measure, data, seed, learner)
                    yield task("both", at, measured)


def learners_of(n_bits: int, seed: int) -> dict[str, Any]:
    """Return untrained learners by the names of their cells."""
    both: dict[str, Any] = {"n_bits": n_bits, "random_state": seed}
    mixed = partial(SupervisedITQ, **both)
    deep = partial(DeepSupervisedITQ, training=TRAINING, **both)
    return {
        "ITQ": ITQ(**both),
        "CCA-ITQ": CCAITQ(**both),
        "DBC": DBC(**both),
        "ECOC": ECOC(**both),
        "ITQ beside CCA-ITQ": Beside(**both),
        "SupervisedITQ, .25": mixed(supervision=0.25),
        "SupervisedITQ, .5": mixed(supervision=0.5),
        "SupervisedITQ, .75": mixed(supervision=0.75),
        VALIDATED: mixed(supervision="validated"),
        "DeepSupervisedITQ, .5": deep(supervision=0.5),
        DEEP_VALIDATED: deep(supervision="validated"),
        "DeepSupervisedITQ, 1": deep(supervision=1.0),
        PREDICTABLE: DeepHash(
            loss=CSQ(centres="predictable"), training=TRAINING, **both
        ),
    }


class Beside:
    """Bits of ITQ, and behind them those of CCA-ITQ; what is used of a learner."""

    def __init__(self, n_bits: int, random_state: int) -> None:
        n_last = round(SHARE_SUPERVISED * n_bits)
        self.parts = (
            ITQ(n_bits - n_last, random_state=random_state),
            CCAITQ(n_last, random_state=random_state),
        )

    def fit(self, X: NDArray[np.float32], y: NDArray[Any]) -> Self:
        """Learn both."""
        for part in self.parts:
            part.fit(X, y)
        return self

    def encode(self, X: NDArray[np.float32]) -> CodeArray:
        """Return both codes, each of whole bytes."""
        return np.hstack([part.encode(X) for part in self.parts])


class Parts(NamedTuple):
    """Rows that are learnt from, ranked, and asked with."""

    train: NDArray[np.int64]
    base: NDArray[np.int64]
    asked: dict[str, NDArray[np.int64]]


@lru_cache(maxsize=1)
def parts_of(data: str, seed: int) -> Parts:
    """Return the rows of a problem, without new classes in the training rows."""
    problem = load_problem(data, seed)
    y, classes = problem.labels, problem.classes
    n_new = round(SHARE_NEW * len(classes))
    new = np.random.default_rng([seed, 3]).permutation(classes)[:n_new]
    is_new = np.isin(y[problem.query], new)
    return Parts(
        problem.train[~np.isin(y[problem.train], new)],
        np.setdiff1d(problem.base, problem.train),
        {"known": problem.query[~is_new], "new": problem.query[is_new]},
    )


def measure(data: str, seed: int, learner: Any) -> Metrics:
    """Learn on known classes; rank for queries of both kinds."""
    problem, parts = load_problem(data, seed), parts_of(data, seed)
    X, y = problem.X, problem.labels
    start = time.process_time()
    learner.fit(X[parts.train], y[parts.train])
    found: dict[str, Any] = {"fit_seconds": round(time.process_time() - start, 2)}
    base = learner.encode(X[parts.base])
    for kind, rows in parts.asked.items():
        queries = learner.encode(X[rows])
        alike = same_label(y[rows], y[parts.base])
        ranked = mean_average_precision(queries, base, alike, at=problem.at)
        nearest = knn_accuracy(base, y[parts.base], queries, y[rows])
        found |= {f"{kind}_map": ranked.value, f"{kind}_nearest": nearest.value}
    if isinstance(learner, SupervisedITQ | DeepSupervisedITQ):
        found["supervision"] = learner.supervision_
    return found


def page(study: "Study") -> dict[str, Any]:
    """Return what the page shows besides the claims."""
    return {
        "sets": DATA,
        "both": partial(_both, study),
        "chosen": partial(_chosen, study),
        "drawn": _drawn(study),
    }


def _drawn(study: "Study") -> dict[str, Any]:
    """Return the panels of the figure: both kinds of classes on two sets of data."""
    panels = (study.panels("both", f"{kind}_map", DRAWN, DRAWN_ON) for kind in KINDS)
    return {
        f"{title}, {kind}": found
        for kind, each in zip(KINDS, panels, strict=True)
        for title, found in each.items()
    }


def _both(study: "Study", data: str, methods: list[str]) -> str:
    """Return known / new, by method and length."""
    names = ("known_map", "new_map", "known_nearest", "new_nearest")

    def cell(method: str, n_bits: int) -> str:
        found = study.select("both", data=data, method=method, bits=n_bits)
        if not found:
            return ""
        mark = "" if len(found) == len(SEEDS) else " *"
        means = (float(np.mean([each.metrics[n] for each in found])) for n in names)
        return "{} / {} ({} / {})".format(*map(decimal, means)) + mark

    rows = [[m, *(cell(m, b) for b in LENGTHS)] for m in methods]
    return markdown(["method / bits", *map(str, LENGTHS)], filter(any_cell, rows))


def any_cell(row: list[str]) -> bool:
    """Return whether any length of a method was measured."""
    return any(row[1:])


def _chosen(study: "Study", data: str) -> str:
    """Return the shares of supervision that were chosen, by length."""
    return " and ".join(
        ", ".join(
            decimal(each.metrics["supervision"], 2)
            for each in study.select("both", data=data, method=VALIDATED, bits=n_bits)
        )
        + f" at {n_bits} bits"
        for n_bits in LENGTHS
    )
