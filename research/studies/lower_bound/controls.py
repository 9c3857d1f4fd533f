"""What the posterior is worth: controls of D behind a hidden layer with dropout.

Beside a loss: nothing, plain targets at the same centres, D at the weight that ranks
held-out items best, and D at weight 1. In place of one: D with blocks of 1 to 8 bits,
and binary cross-entropy, as it is and with a learnt temperature. With a block of 1 the
posterior is a product of its marginals. No unit of D's surrogate is left out but in one
cell, so that both sides have the same dropout. Rates and weights are chosen for each
base and control at 32 bits, of which codes in place of a loss and at weight 1 are.
`views` takes bits of another view in place of what D learns, or of its centres.
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
from research.core.claims import Claim, findings
from research.core.record import Metrics, Settings, store_of
from research.core.runner import Task, task
from research.core.table import decimal, markdown
from research.studies.lower_bound.nets import VARIANTS, unseen
from research.studies.lower_bound.views import (
    DrawnToOtherView,
    LearnsOtherView,
    TwoViews,
)

if TYPE_CHECKING:
    from research.core.study import Study

DATA, SEEDS, MAX_EPOCHS = ("icd10-words", "caltech101", "cifar10"), 3, 30
N_BITS, LENGTHS, WEIGHTS = 32, (32, 16, 64), (0.1, 1.0)
RATES, MORE_RATES = (1e-3, 5e-3), (3e-4,)
ALONE, WEIGHT_1 = "in place of a loss", " at weight 1"
#: Of losses, as chosen behind a linear head; HashNet with a memory. Those of DBDH and
#: DSDH on Caltech-101 learn nothing there: others were tried on held-out items.
_OF_CLASSES = {"hashnet": "alpha .1, memory", "dsdh": "eta 1"}
CHOSEN: dict[str, dict[str, str]] = {
    "icd10-words": {"hashnet": "memory", "dch": "of scores, with itself"},
    "caltech101": {
        "hashnet": "alpha .1, memory",
        "dbdh": "clamped, memory",
        "dch": "with itself",
    },
    "cifar10": {**_OF_CLASSES, "dbdh": "clamped, memory"},
}
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
#: Either beside these losses and in place of one, on one set.
VIEWS: dict[str, Any] = {
    "D learns another view": partial(LearnsOtherView, dropout=0.0),
    "drawn to another view": partial(DrawnToOtherView, dropout=0.0),
}
VIEWED = ("hashnet", "dch", "greedyhash", ALONE)
#: Of those; blocks of 2 and 4 lie between, and dropout changes .001.
SHOWN_ALONE = ("centres, learnt temperature", "D, blocks of 1", "D, blocks of 8")


def tasks() -> Iterator[Task]:
    """Yield what is chosen, then the cells."""
    for method in (ALONE, *LOSSES):
        for data in DATA:
            usual = REPLACING if method == ALONE else (*BESIDE, "D" + WEIGHT_1)
            viewed = method in VIEWED and data == DATA[0]
            names = (*usual, *(VIEWS if viewed else ()))
            # Plain targets are CSQ's own loss.
            for control in [n for n in names if (method, n) != ("csq", "centres")]:
                at = {"data": data, "method": method, "control": control}
                yield from _cells(at)


def _cells(at: dict[str, Any]) -> Iterator[Task]:
    def after(rate: float, weight: float) -> Choice:
        settings = {**at, "bits": N_BITS, "control": control}
        settings |= {"rate": rate, "weight": weight, "seed": CHOSEN_SEED}
        one = task("control choices", settings, partial(choose, settings))
        found = yield from measured(one, STORE)
        return found and found["unseen"]

    control, beside = at["control"].removesuffix(WEIGHT_1), at["method"] != ALONE
    weight, lengths = 1.0, LENGTHS if at["control"] in BESIDE and beside else (N_BITS,)
    if control and beside:
        weight = yield from best_of(WEIGHTS, partial(after, RATES[0]))
    rate = weight and (
        yield from best_of(RATES, partial(after, weight=weight), MORE_RATES)
    )
    if at["control"].endswith(WEIGHT_1):
        weight = 1.0
    for n_bits in lengths if rate else ():
        for seed in range(SEEDS):
            settings = {**at, "bits": n_bits, "seed": seed}
            measure = partial(rank, {**settings, "rate": rate, "weight": weight})
            yield task("controls", settings, measure)


def table(study: "Study") -> str:
    """Return the mAP of each loss, and what D has beyond it and beyond its targets."""
    alone = [(ALONE, name) for name in SHOWN_ALONE]
    found = [_row(study, *each) for each in (*((m, "D") for m in LOSSES), *alone)]
    found = [row for row in found if any(row[1:])]
    titles = [study.titles[data] for data in DATA]
    header = [f"{t}{w}" for t in titles for w in ("", ", D", ", targets")]
    columns = zip([f"{N_BITS} bits", *header], *found, strict=True)
    header, *rows = zip(*(c for c in columns if any(c[1:])), strict=True)
    return markdown(header, rows)


def _row(study: "Study", method: str, control: str) -> list[str]:
    row = [method if method != ALONE else control]
    for data in DATA:
        at = {"data": data, "bits": N_BITS, "method": method}
        measured = study.select("controls", control="", **at)
        row.append(study.mean("controls", "map", control="", **at) if measured else "")
        for other in ("", "" if method == "csq" else "centres"):
            sides = {"control": control}, {"control": other}
            row.append(difference(study, "controls", "map", *sides, at))
    return row


def difference(study: "Study", *claim: Any) -> str:
    """Return the mean of a difference and its error, or nothing if it is not there."""
    for found in findings(Claim("", "", *claim), study.records, lambda _: ""):
        mean, error = found.effect.mean, found.effect.error
        if found.effect.n > 1:
            return f"{decimal(mean, sign=True)} ± {decimal(error)}"
    return ""


def learner(settings: Settings, **training: Any) -> DeepHash:
    """Return an untrained learner."""
    method, name = settings["method"], settings["control"].removesuffix(WEIGHT_1)
    if method == ALONE:
        control = (REPLACING | VIEWS)[name](mode="replace")
    else:
        made = (BESIDE | VIEWS)[name]
        control = None if made is None else made(weight=settings["weight"])
    variant = CHOSEN.get(settings["data"], {}).get(method, "")
    usual = {"max_epochs": MAX_EPOCHS, "learning_rate": settings["rate"]}
    kind = TwoViews if name in VIEWS else DeepHash
    return kind(
        settings["bits"],
        loss=LOSSES["csq" if method == ALONE else method](
            **VARIANTS.get(method, {}).get(variant, {})
        ),
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
