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
from statistics import median
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from fewbits.evaluation import mean_average_precision, same_label
from fewbits.learners import ECOC, Learner
from fewbits.learners.deep import (
    CentreControl,
    DeepHash,
    NetworkConfig,
    PosteriorControl,
    TrainingConfig,
)
from fewbits.learners.deep._posterior import ControlLoss
from fewbits.learners.deep.losses import LOSSES, Batch, LossContext
from research.common.choices import CHOSEN_SEED, N_SEEDS, Choice, best_of, measured
from research.common.class_codes import HIDDEN
from research.common.problems import Problem, choice_problem, load_problem
from research.core.claims import Claim, findings
from research.core.compare import Effect
from research.core.record import Metrics, Settings, store_of
from research.core.runner import Task, task
from research.core.table import decimal, markdown
from research.studies.lower_bound.nets import loss_of, unseen
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
#: Random codewords of classes, predicted by ridge regression.
RANDOM = "ECOC"
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
    for data in DATA:
        for seed in range(SEEDS):
            at = {"data": data, "method": RANDOM, "control": "", "bits": N_BITS}
            yield task("controls", {**at, "seed": seed}, partial(codewords, at, seed))


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
    """Return the mAP of each loss, what D has beyond it, and beyond its targets.

    The differences are of rising lengths, in place of a loss of one.
    """
    alone = [(ALONE, name) for name in SHOWN_ALONE]
    asked = (*((m, "D") for m in LOSSES), *alone, (RANDOM, "D"))
    rows = [_row(study, *each) for each in asked]
    titles = [study.titles[data] for data in DATA]
    header = [f"{t}{w}" for t in titles for w in ("", ", D", ", targets")]
    columns = zip(["hidden layer", *header], *rows, strict=True)
    header, *lines = zip(*(c for c in columns if any(c[1:])), strict=True)
    return markdown(header, lines)


def _row(study: "Study", method: str, control: str) -> list[str]:
    row = [method if method != ALONE else control]
    for data in DATA:
        at = {"data": data, "method": method}
        loss: dict[str, Any] = {**at, "bits": N_BITS, "control": ""}
        measured = study.select("controls", **loss)
        mean = study.mean("controls", "map", **loss) if measured else ""
        row.append(mean.split(" ±")[0])
        for other in ("", "centres"):
            found = _beyond(study, at, control, other)
            row.append(", ".join(decimal(e.mean, sign=True) for e in found))
    return row


def _beyond(study: "Study", at: Settings, control: str, other: str) -> list[Effect]:
    """Return what a control has beyond another, by rising length."""
    sides = {"control": control}, {"control": other}
    every = (effect_of(study, *sides, {**at, "bits": n}) for n in sorted(LENGTHS))
    return [each for each in every if each is not None]


def errors(study: "Study") -> tuple[str, str]:
    """Return the median and the largest standard error of the table's differences."""
    found = [
        each.error
        for method in LOSSES
        for data in DATA
        for other in ("", "centres")
        for each in _beyond(study, {"data": data, "method": method}, "D", other)
    ]
    return decimal(median(found)), decimal(max(found))


def difference(study: "Study", part: str, metric: str, *claim: Any) -> str:
    """Return the mean of a difference and its error, or nothing if it is not there."""
    found = effect_of(study, *claim, part=part, metric=metric)
    if found is None:
        return ""
    return f"{decimal(found.mean, sign=True)} ± {decimal(found.error)}"


def effect_of(
    study: "Study", *claim: Any, part: str = "controls", metric: str = "map"
) -> Effect | None:
    """Return a difference that was measured with more than one seed."""
    asked = Claim("", "", part, metric, *claim)
    found = (each.effect for each in findings(asked, study.records, lambda _: ""))
    return next((each for each in found if each.n > 1), None)


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
        loss=loss_of("csq" if method == ALONE else method, variant),
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
    at = {"rate": settings["rate"], "weight": settings["weight"]}
    return {"map": ranked(found, problem), **at}


def codewords(settings: Settings, seed: int) -> Metrics:
    """Rank by random codewords that ridge regression predicts."""
    problem = load_problem(settings["data"], seed)
    learner = ECOC(settings["bits"], random_state=seed)
    return {"map": ranked(problem.learn(learner), problem)}


def ranked(learner: Learner, problem: Problem) -> float:
    """Return the mAP of a problem's queries."""
    rows = problem.query, problem.base
    query, base = (learner.encoder_.encode(problem.X[each]) for each in rows)
    right = same_label(*(problem.labels[each] for each in rows))
    return float(mean_average_precision(query, base, right, at=problem.at).value)
