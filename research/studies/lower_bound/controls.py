"""What the posterior is worth: controls of D behind a hidden layer with dropout.

Beside a loss: nothing, plain targets at the same centres, D at the weight that ranks
held-out items best, and D at weight 1. In place of one: D with blocks of 1 to 8 bits,
and binary cross-entropy, as it is and with a learnt temperature. With a block of 1 the
posterior is a product of its marginals. No unit of D's surrogate is left out but in one
cell, so that both sides have the same dropout. Rates are chosen for each cell.
"""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from fewbits.evaluation import mean_average_precision, same_label
from fewbits.learners.deep import (
    CentreControl,
    DeepHash,
    NetworkConfig,
    PosteriorControl,
    TrainingConfig,
)
from fewbits.learners.deep._posterior import ControlLoss
from fewbits.learners.deep._targets import Batch
from fewbits.learners.deep.losses import LOSSES, LossContext
from research.common.choices import CHOSEN_SEED, N_SEEDS, Choice, best_of, measured
from research.common.class_codes import HIDDEN
from research.common.problems import choice_problem, load_problem
from research.core.record import Metrics, Settings, store_of
from research.core.runner import Task, task
from research.core.table import markdown
from research.studies.lower_bound.nets import unseen

if TYPE_CHECKING:
    from research.core.study import Study

DATA, N_BITS, SEEDS, MAX_EPOCHS = ("icd10-words", "caltech101"), 32, 3, 30
BASES, RATES, WEIGHTS = ("csq", "hashnet", "greedyhash"), (1e-3, 5e-3), (0.1, 1.0)
ALONE = "in place of a loss"
STORE = store_of("lower_bound")


class Tempered(CentreControl):
    """Binary cross-entropy with bits of centres, of scores times a learnt number."""

    def start(self, context: LossContext) -> None:
        super().start(context)
        self.log_scale = nn.Parameter(torch.zeros(()))

    def forward(self, scores: Tensor, batch: Batch) -> ControlLoss:
        return super().forward(scores * self.log_scale.exp(), batch)


_D = partial(PosteriorControl, dropout=0.0)
BESIDE: dict[str, Any] = {"": None, "centres": CentreControl, "D": _D}
REPLACING: dict[str, Any] = {
    "centres": CentreControl,
    "centres, learnt temperature": Tempered,
    **{f"D, blocks of {block}": partial(_D, block=block) for block in (1, 2, 4, 8)},
    "D, dropout": PosteriorControl,
}


def tasks() -> Iterator[Task]:
    """Yield what is chosen, then the cells."""
    for method in (ALONE, *BASES):
        for data in DATA:
            names = REPLACING if method == ALONE else (*BESIDE, "D at weight 1")
            # Plain targets are CSQ's own loss.
            for control in [n for n in names if (method, n) != ("csq", "centres")]:
                at = {"data": data, "bits": N_BITS, "method": method}
                yield from _cell({**at, "control": control})


def _cell(at: dict[str, Any]) -> Iterator[Task]:
    def after(rate: float, weight: float) -> Choice:
        settings = {**at, "control": control, "rate": rate, "weight": weight}
        settings["seed"] = CHOSEN_SEED
        one = task("control choices", settings, partial(choose, settings))
        found = yield from measured(one, STORE)
        return found and found["unseen"]

    control, weight = at["control"].split(" at ")[0], 1.0
    if control in ("centres", "D") and at["method"] != ALONE:
        weight = yield from best_of(WEIGHTS, partial(after, RATES[0]))
    rate = weight and (yield from best_of(RATES, partial(after, weight=weight)))
    if at["control"].endswith("weight 1"):
        weight = 1.0
    for seed in range(SEEDS if rate else 0):
        settings = {**at, "seed": seed}
        measure = partial(rank, {**settings, "rate": rate, "weight": weight})
        yield task("controls", settings, measure)


def table(study: "Study") -> str:
    """Return the mAP of each control by data, of cells with all seeds."""
    rows = []
    for method, controls in ((ALONE, REPLACING), *((b, ()) for b in BASES)):
        for control in controls or (*BESIDE, "D at weight 1"):
            cells = []
            for data in DATA:
                at = {"data": data, "method": method, "control": control}
                found = study.select("controls", **at)
                full = len(found) == SEEDS
                cells.append(study.mean("controls", "map", **at) if full else "")
            if any(cells):
                rows.append([f"{method}, {control}".strip(", "), *cells])
    return markdown(["32 bits", *(study.titles[data] for data in DATA)], rows)


def learner(settings: Settings, **training: Any) -> DeepHash:
    """Return an untrained learner."""
    method, name = settings["method"], settings["control"].split(" at ")[0]
    if method == ALONE:
        control = REPLACING[name](mode="replace")
    else:
        made = BESIDE[name]
        control = None if made is None else made(weight=settings["weight"])
    memory = {"memory": 5000} if method == "hashnet" else {}
    usual = {"max_epochs": MAX_EPOCHS, "learning_rate": settings["rate"]}
    return DeepHash(
        N_BITS,
        loss=LOSSES["csq" if method == ALONE else method](**memory),
        control=control,
        network=NetworkConfig(**HIDDEN),
        training=TrainingConfig(**{**usual, "eval_every": 0, **training}),
        random_state=settings["seed"],
    )


def choose(settings: Settings) -> Metrics:
    """Return how well held-out items rank one another."""
    problem = choice_problem(settings["data"], settings["seed"], N_SEEDS)
    return {"unseen": unseen(problem.learn(learner(settings)), problem)}


def rank(settings: Settings) -> Metrics:
    """Train on all items, then rank the base for the queries."""
    problem = load_problem(settings["data"], settings["seed"])
    found = problem.learn(learner(settings, validation=0))
    query, base = (found.encode(problem.X[r]) for r in (problem.query, problem.base))
    right = same_label(problem.labels[problem.query], problem.labels[problem.base])
    value = mean_average_precision(query, base, right, at=problem.at).value
    return {"map": value, "rate": settings["rate"], "weight": settings["weight"]}
