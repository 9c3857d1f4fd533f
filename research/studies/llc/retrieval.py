"""Tables 3 and 4: retrieval by LLC, by losses made for it, and by real numbers.

Learning rates, and the regulariser of CCA-ITQ, are chosen at 32 bits, epochs at each
length: all by how well held-out items rank those that are trained on, or one another
where the base has none of these. In the end all training items are trained on. Heads
are linear; some are measured behind a hidden layer, too: at 32 bits, and on one set at
the lengths that the claims compare.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fewbits.errors import ArgumentError
from fewbits.evaluation import mean_average_precision, same_label
from fewbits.learners import CCAITQ, ECOC, ITQ, Learner
from fewbits.learners.deep import DeepHash
from fewbits.learners.deep._trainer import smooth
from fewbits.learners.deep.losses import HashNet
from research.common import class_codes
from research.common.choices import (
    CHOSEN_BITS,
    CHOSEN_SEED,
    EPOCHS,
    MORE_EPOCHS,
    MORE_RATES,
    N_SEEDS,
    NEW_BASE,
    RATES,
    USUAL_EPOCHS,
    Choice,
    best_of,
    halves,
    mean_unseen,
    measured,
)
from research.common.class_codes import HIDDEN_LAYER, REAL, possible
from research.common.problems import N_CLASSES, Problem, choice_problem, load_problem
from research.common.settings import configured
from research.common.supervised import PredictedClass
from research.core.record import Metrics, Settings, key_of, store_of
from research.core.runner import Task, task

LENGTHS = (8, 10, 16, 32, 48, 64)
BOOKS = ("LLC", "LLC with a bias", "LLC from SVD", "SVD", "random", "predictable")
#: Measured by the study of lower bounds.
LOSSES = {"HashNet": "hashnet", "GreedyHash": "greedyhash", "OrthoHash": "orthohash"}
SHALLOW: dict[str, Callable[..., Learner]] = {
    "ITQ": ITQ,
    "PCA, random rotation": partial(ITQ, n_iter=0),
    "CCA-ITQ": CCAITQ,
}
#: A control, at the length that rates are chosen at.
ECOC_CONTROL = "ECOC"
#: Without a length of their own; items of several labels have no number of a class.
WHOLE, SEVERAL = ("features", "predicted class", "predicted class, its number"), 2
#: Of CCA-ITQ; and the epochs that real numbers ask for at first.
REGULARISERS, REAL_EPOCHS = (0.1, 0.3, 1.0, 3.0, 10.0), 80
#: What is measured behind a hidden layer, too, at the length that rates are chosen at.
HIDDEN_DATA, FEW_SEEDS = ("icd10", "wordnet", "caltech101", "cifar10"), 3
#: HashNet with the alpha that held-out items of Caltech-101 choose.
HIDDEN_LOSSES = {"HashNet": HashNet(alpha=0.1), "GreedyHash": "greedyhash"}
HIDDEN_METHODS = tuple(
    name + HIDDEN_LAYER for name in ("LLC", "predictable", *HIDDEN_LOSSES, REAL)
)
#: Of tables 3 and 4, which compare lengths.
HIDDEN_LENGTHS = {
    "caltech101": (
        *((10, "LLC"), (64, "LLC"), (16, "HashNet"), (64, "HashNet")),
        *((8, REAL), (10, REAL)),
    )
}
STORE = store_of("llc")


def tasks(data: str) -> Iterator[Task]:
    """Yield what is chosen, and the cells of every seed."""
    cells = [(0, each) for each in WHOLE[: SEVERAL if data == "icd10-words" else None]]
    for n_bits in LENGTHS:
        methods = (*BOOKS, *LOSSES, *SHALLOW, REAL)
        cells += [(n_bits, m) for m in methods if possible(m, n_bits, N_CLASSES[data])]
    cells.append((CHOSEN_BITS, ECOC_CONTROL))
    if data in HIDDEN_DATA:
        cells += [(CHOSEN_BITS, m) for m in HIDDEN_METHODS if REAL not in m]
    cells += [(n, m + HIDDEN_LAYER) for n, m in HIDDEN_LENGTHS.get(data, ())]
    for n_bits, method in cells:
        chosen = yield from settled(data, method, n_bits)
        for seed in range(FEW_SEEDS if method in HIDDEN_METHODS else N_SEEDS):
            at = {"data": data, "bits": n_bits, "method": method, "seed": seed}
            yield task("retrieval", at, partial(measure, at, chosen))


def measure(settings: Settings, chosen: tuple[float, int] | None) -> Metrics:
    """Learn codes, and rank the base for the queries."""
    data, method = settings["data"], settings["method"]
    if method in LOSSES:
        return loss_metrics(settings)
    if chosen is None:
        raise ArgumentError(f"{data} {method}: measure choices and unseen first")
    problem = load_problem(data, settings["seed"])
    learner = make(method, settings["bits"], settings["seed"], *chosen)
    start = time.perf_counter()
    if learner is not None:
        problem.learn(learner)
    seconds = round(time.perf_counter() - start, 2)
    found = {"map": ranked(learner, method, problem), "fit_seconds": seconds}
    if chosen[0]:
        found |= dict(zip(("rate", "epochs"), chosen, strict=True))
    if method.removesuffix(HIDDEN_LAYER) in BOOKS:
        found["unique"] = learner.codebook_of_classes().n_unique
    return found


def loss_metrics(settings: Settings) -> Metrics:
    """Return what the study of lower bounds has measured of a loss by itself."""
    alone = {"head": "linear", "control": "", "method": LOSSES[settings["method"]]}
    key = key_of("ranking", {**settings, **alone})
    for record in store_of("lower_bound").read("ranking"):
        if record.key == key:
            return {name: record.metrics[name] for name in ("map", "fit_seconds")}
    raise ArgumentError(f"run lower_bound first: it has no {key}")


def settled(data: str, method: str, bits: int) -> Choice:
    """Return rate, or regulariser, and epochs that rank held-out items best."""
    head = "hidden" if method in HIDDEN_METHODS else "linear"
    at = {"data": data, "head": head, "method": method, "control": ""}
    mine = at if bits == bits_to_choose_at(at) else {**at, "bits": bits}
    usual = USUAL_EPOCHS if data in NEW_BASE else REAL_EPOCHS

    def by_trainer(rate: float) -> Choice:
        found = yield from tried(at, rate)
        return found and found["map"]

    if method not in (*BOOKS, *HIDDEN_METHODS, REAL, "CCA-ITQ"):
        return 0.0, 0
    if method == "CCA-ITQ":
        reg = yield from best_of(REGULARISERS, by_trainer)
        return reg and (reg, 0)
    # There the trainer ranks what is trained on.
    if data in NEW_BASE or method.startswith(REAL):
        by_ranking = partial(unseen_after, at, usual)
        rate = yield from best_of(RATES, by_ranking, MORE_RATES)
        after = partial(unseen_after, mine, rate=rate)
        epochs = rate and (yield from best_of(EPOCHS, after, MORE_EPOCHS))
        return epochs and (rate, epochs)
    rate = yield from best_of(RATES, by_trainer, MORE_RATES)
    found = rate and (yield from tried(mine, rate))
    return found and (rate, found["epochs"])


def bits_to_choose_at(at: Settings) -> int:
    """Return the length of settings, else the usual one, or the shortest.

    Few classes have few directions between them.
    """
    usual = possible(at["method"], CHOSEN_BITS, N_CLASSES[at["data"]])
    bits: int = at.get("bits", CHOSEN_BITS if usual else LENGTHS[0])
    return bits


def unseen_after(at: Settings, epochs: int, rate: float) -> Choice:
    """Return how well held-out items rank after a number of epochs, over seeds."""
    settings = {**at, "rate": rate, "epochs": epochs}
    return mean_unseen(settings, lambda s: unseen({**settings, "seed": s}), STORE)


def unseen(settings: Settings) -> Metrics:
    """Train for a number of epochs, and let held-out items rank."""
    data, method, seed = (settings[key] for key in ("data", "method", "seed"))
    problem, bits = choice_problem(data, seed, N_SEEDS), bits_to_choose_at(settings)
    learner = make(method, bits, seed, settings["rate"], settings["epochs"])
    learner.set_params(training__validation=0.1)
    if method.startswith(REAL):
        # Keeps the last epoch: the best would be that of its signs.
        learner.set_params(training__eval_every=0)
    problem.learn(learner)
    rows = problem.train[learner.held_out_]
    sides = [(rows, np.setdiff1d(problem.train, rows))]
    if data in NEW_BASE:
        sides = halves(problem, rows)
    asked = [replace(problem, query=q, base=b, at=None) for q, b in sides]
    return {"unseen": float(np.mean([ranked(learner, method, p) for p in asked]))}


def tried(at: Settings, value: float) -> Choice:
    """Return the mAP of held-out items, and the number of epochs that is best."""
    settings = {**at, "weight": None, "rate": value}
    return measured(task("choices", settings, partial(choose, settings)), STORE)


def choose(settings: Settings) -> Metrics:
    """Train with a tenth of the items held out, and let these rank the others."""
    data, method, rate = (settings[key] for key in ("data", "method", "rate"))
    problem = choice_problem(data, CHOSEN_SEED, N_SEEDS)
    learner = make(method, bits_to_choose_at(settings), CHOSEN_SEED, rate)
    if method in SHALLOW:
        rows = np.random.default_rng(CHOSEN_SEED).permutation(problem.train)
        query, train = np.split(rows, [len(rows) // 10])
        query, base = np.array_split(query, 2) if data in NEW_BASE else (query, train)
        problem = replace(problem, train=train, base=base, query=query)
        return {"map": ranked(problem.learn(learner), method, problem)}
    values = [record["map"] for record in problem.learn(learner).history_]
    return {"map": max(values), "epochs": 1 + int(np.argmax(smooth(values)))}


def make(method: str, bits: int, seed: int, value: float, epochs: int = 0) -> Any:
    """Return an untrained learner, or None for the features themselves.

    With `epochs` it trains on all items for so long, without them as long as any, with
    a tenth of the items held out.
    """
    name, hidden = method.removesuffix(HIDDEN_LAYER), method in HIDDEN_METHODS
    usual = class_codes.QUICK["max_epochs"] if hidden else class_codes.MAX_EPOCHS
    deep: dict[str, Any] = {"max_epochs": epochs or usual, "learning_rate": value}
    if epochs:
        deep["validation"] = 0
    if name in BOOKS:
        kind = class_codes.llc if hidden else class_codes.linear_llc
        return kind(bits, random_state=seed, **deep, **class_codes.CODEBOOKS[name])
    if hidden or name == REAL:
        loss = class_codes.RealValued() if name == REAL else HIDDEN_LOSSES[name]
        head = class_codes.HIDDEN if hidden else class_codes.LINEAR
        return configured(DeepHash, bits, random_state=seed, loss=loss, **deep, **head)
    if method == ECOC_CONTROL:
        return ECOC(bits, random_state=seed)
    if method in SHALLOW:
        reg = {"reg": value} if method == "CCA-ITQ" else {}
        return SHALLOW[method](bits, random_state=seed, **reg)
    if method == "features":
        return None
    return PredictedClass(numbered=method.endswith("number"))


def ranked(learner: Any, method: str, problem: Problem) -> float:
    """Return the mAP, by Hamming distances or by the cosines of real numbers."""
    query, base = problem.query, problem.base
    right = same_label(problem.labels[query], problem.labels[base])
    real = method == "features" or method.startswith(REAL)
    metric = "cosine" if real else "hamming"
    if method == "features":
        centre = problem.X[problem.train].mean(axis=0)
        asked, ranked = (problem.X[rows] - centre for rows in (query, base))
    else:
        encoder = learner.encoder_
        by = encoder.project if metric == "cosine" else encoder.encode
        asked, ranked = (by(problem.X[rows]) for rows in (query, base))
    found = mean_average_precision(asked, ranked, right, at=problem.at, metric=metric)
    return float(found.value)
