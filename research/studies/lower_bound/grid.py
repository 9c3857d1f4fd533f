"""The grid: losses with posterior control ("D"), its targets, or neither.

Heads on frozen features, a toy distribution, and CIFAR-10 from
pixels. The paper does not say whether the control is added to a loss or takes its
place: "D alone" is the latter. "centres" are plain targets at the same centres;
"frozen" is a surrogate that stays as it was drawn.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import spearmanr

from fewbits.analysis.bounds import code_bound
from fewbits.evaluation import mean_average_precision, same_label
from fewbits.evaluation.classification import knn_accuracy
from fewbits.learners.deep import DeepHash
from fewbits.learners.deep.losses import LOSSES
from research.common.problems import Problem, load_problem
from research.core.compare import Effect
from research.core.record import Metrics, Record
from research.core.runner import Task, task
from research.core.table import decimal, markdown
from research.studies.lower_bound import controls, pixels, toy
from research.studies.lower_bound.nets import (
    ALONE,
    CONTROLS,
    FOLLOWED,
    N_SEEDS,
    Chosen,
    MissingChoiceError,
    Net,
    best_epoch,
    choose,
    every_epoch,
    follow,
)

if TYPE_CHECKING:
    from research.core.study import Study

LENGTHS, MORE_LENGTHS, FEW_SEEDS = (16, 32, 64), (8, 10, 48), 3
#: Beside LLC, at more lengths and on more sets.
BESIDE_LLC, MORE_DATA = ("hashnet", "greedyhash", "orthohash"), ("icd10", "wordnet")
BEST = ("centres alone, semantic", "centres alone, predictable")
#: What other heads than linear ones are trained by, with three seeds.
HEADS: dict[tuple[str, str], tuple[str, ...]] = {
    ("caltech101", "mlp"): (*LOSSES, *ALONE),
    ("caltech101", "linear with decay"): ("dch", *BEST),
    ("caltech101", "mlp with dropout"): BEST,
    ("cifar10", "mlp"): ("dch", "greedyhash", "csq", "orthohash", *BEST),
    ("cifar10", "linear with decay"): ("dch", "csq", *BEST),
    ("cifar10", "mlp with dropout"): BEST,
}
DATA = ("caltech101", "cifar10", "icd10-words")

TINY = [(1000, "surrogate", None), (16, "csq", "D")]


def tasks(tiny: bool = False) -> Iterator[Task]:
    """Yield what is run; a tiny run takes seconds."""
    if tiny:
        yield from _tiny()
        return
    for net, n_seeds in nets():
        yield from ranking(net, n_seeds)
    yield from controls.tasks()
    yield from toy.tasks()
    for seed in range(FEW_SEEDS):
        yield from pixels.tasks("cifar10-pixels", "small", seed)


def _tiny() -> Iterator[Task]:
    net, choice = Net("digits", "linear", 16, "csq", "D"), Chosen("", 0.1, 1e-3)
    for part, measure in (
        ("ranking", partial(rank, net, 0, choice, 2, 0.0)),
        ("epochs", partial(follow, net, choice, 0, max_epochs=2)),
    ):
        yield task(part, {**net.settings, "seed": 0}, measure)
    for each in (*toy.tasks(1, n_steps=2), *pixels.tasks("digits", "tiny", 0)):
        at = each.cells[0]
        kind = (at.get("bits", at.get("samples")), at["method"], at.get("control"))
        if kind in TINY:
            yield each


def nets() -> Iterator[tuple[Net, int]]:
    """Yield every head that is trained, and with how many seeds."""
    for data in DATA:
        for method in (*LOSSES, *ALONE):
            for control in CONTROLS if method in LOSSES else ("",):
                few = control in ("centres", "frozen")
                few = few or (data == "icd10-words" and method in ALONE)
                for n_bits in LENGTHS:
                    net = Net(data, "linear", n_bits, method, control)
                    yield net, FEW_SEEDS if few else N_SEEDS
    for (data, head), methods in HEADS.items():
        for method in methods:
            for n_bits in LENGTHS:
                yield Net(data, head, n_bits, method), FEW_SEEDS
    for data in (*DATA, *MORE_DATA):
        for n_bits in MORE_LENGTHS + (LENGTHS if data in MORE_DATA else ()):
            for method in BESIDE_LLC:
                yield Net(data, "linear", n_bits, method), N_SEEDS


def ranking(net: Net, n_seeds: int) -> Iterator[Task]:
    """Yield what is chosen for a head, then the cells that are made by it."""
    try:
        choice = yield from choose(net)
        if (net.method, net.control) in FOLLOWED:
            yield from every_epoch(net, choice)
        epochs, held_out = yield from best_epoch(net, choice)
    except MissingChoiceError:
        return
    for seed in range(n_seeds):
        measure = partial(rank, net, seed, choice, epochs, held_out)
        yield task("ranking", {**net.settings, "seed": seed}, measure)


def rank(net: Net, seed: int, choice: Chosen, epochs: int, held_out: float) -> Metrics:
    """Train, then rank the base for the queries and vote by it."""
    problem = load_problem(net.data, seed)
    start = time.perf_counter()
    learner = problem.learn(net.learner(choice, seed, max_epochs=epochs, validation=0))
    seconds = time.perf_counter() - start
    per_epoch = np.median([record["seconds"] for record in learner.history_])
    return {
        **quality(learner, problem),
        **choice._asdict(),
        "epochs": epochs,
        "held_out": held_out,
        "seconds_per_epoch": float(per_epoch),
        "fit_seconds": round(seconds, 2),
    }


def quality(learner: DeepHash, problem: Problem) -> Metrics:
    """Return mAP, the bound, and accuracy by 100 votes and by the loss's classifier."""
    base, query = (
        learner.encode(problem.X[rows]) for rows in (problem.base, problem.query)
    )
    labels, asked = problem.labels[problem.base], problem.labels[problem.query]
    right = same_label(asked, labels)
    found = {"map": mean_average_precision(query, base, right, at=problem.at).value}
    found["bound"] = float(code_bound(base, learner.n_bits, labels).ratio)
    if labels.ndim == 1:
        found["accuracy"] = knn_accuracy(base, labels, query, asked, k=100).value
    if learner.classifier_ is not None and labels.ndim == 1:
        signs = np.where(learner.encoder_.project(problem.X[problem.query]) >= 0, 1, -1)
        voted = learner.classes_[(signs @ learner.classifier_.T).argmax(axis=1)]
        found["classifier"] = float(np.mean(voted == asked))
    return found


#: The paper's; we measured OrthoHash, too.
SIX = ("hashnet", "dbdh", "dsdh", "dch", "greedyhash", "csq")


def for_claims(records: Iterable[Record]) -> list[Record]:
    """Add means over the paper's six losses, and correlations with the bound."""
    found = [_recognised(each) for each in records]
    groups: dict[tuple[Any, ...], dict[str, dict[str, Metrics]]] = {}
    for each in [r for r in found if r.settings.get("head") == "linear"]:
        at, method = each.settings, each.settings["method"]
        key = (at.get("data"), at.get("bits"), each.seed)
        if each.part == "ranking" and method in LOSSES:
            controls = groups.setdefault(key, {})
            controls.setdefault(at["control"], {})[method] = each.metrics
        elif each.part == "epochs":
            curves = each.metrics["map"], each.metrics["bound"]
            found += _correlation(key, f"{method} {at['control']}".strip(), *curves)
    for key, controls in groups.items():
        both = [m for c in ("", "D") for m in controls.get(c, {}).values()]
        curves = [m["map"] for m in both], [m["bound"] for m in both]
        found += _correlation(key, "networks", *curves)
        for control, by_loss in controls.items():
            maps = {loss: metrics["map"] for loss, metrics in by_loss.items()}
            if len(maps) == len(LOSSES):
                six = float(np.mean([maps[loss] for loss in SIX]))
                metrics = {"six": six}
                at = {"data": key[0], "bits": key[1], "control": control}
                found.append(Record("mean", at, key[2], metrics))
    return found


def _recognised(record: Record) -> Record:
    """Add the paper's accuracy: by a loss's own classifier, or else by votes."""
    metrics = record.metrics
    if record.part != "ranking" or "accuracy" not in metrics:
        return record
    found = metrics.get("classifier", metrics["accuracy"])
    return replace(record, metrics={**metrics, "recognition": found})


def _correlation(
    key: tuple[Any, ...], over: str, maps: list[float], bounds: list[float]
) -> Iterator[Record]:
    """Yield Spearman's correlation of mAP and bound, where both vary."""
    if len(maps) > 3 and min(len(set(maps)), len(set(bounds))) > 1:
        metrics = {"rho": float(spearmanr(maps, bounds).statistic)}
        at = {"data": key[0], "bits": key[1], "over": over}
        yield Record("correlation", at, key[2], metrics)


#: mAP at 32 bits of code by others on the same features, by three seeds of one split:
#: DeepHash-pytorch, OrthoHash, and of modfire CSQ with D in its place.
PUBLIC = {
    "caltech101": (".746", ".441", ".443", ".738", ".713", ".733", ".671", ".704"),
    "cifar10": (".549", ".472", ".468", ".508", ".514", ".553", ".475", ".523"),
}
#: Of the page.
DRAWN = ("D alone", "D alone, frozen", "centres alone", BEST[1], "dch", "hashnet")
D, *OTHERS = ({"control": name} for name in ("D", "", "centres"))


def page(study: "Study") -> dict[str, Any]:
    """Return what the page shows besides the claims."""

    def added(metric: str, beyond: str, data: str) -> str:
        sides = D, {"control": beyond}
        return study.gap("mean", metric, *sides, data=data, bits=32)

    def hidden(
        method: str, beyond: str, data: str, bits: int = 32, control: str = "D"
    ) -> str:
        sides = {"control": control}, {"control": beyond}
        at = {"data": data, "bits": bits, "method": method}
        return controls.difference(study, "controls", "map", *sides, at)

    def reached(method: str, head: str = "linear", data: str = DATA[0]) -> str:
        at: dict[str, Any] = {"data": data, "head": head, "method": method}
        return study.mean("ranking", "map", bits=32, control="", **at)

    at = {"head": "linear", "control": "", "bits": list(LENGTHS)}
    return {
        "drawn": study.panels("ranking", "map", DRAWN, DATA, **at),
        **dict(zip(("gains", "gains_error"), gains(study), strict=True)),
        **{"added": added, "reached": reached, "hidden": hidden},
        "controls": controls.table(study),
        "errors": controls.errors(study),
        **{"public": PUBLIC, "methods": (*LOSSES, "D alone")},
    }


def gains(study: "Study") -> tuple[str, str]:
    """Return what D adds beyond nothing, and beyond its targets: a table.

    And the largest standard error in it.
    """
    beside = [(D, each) for each in OTHERS]
    found = {"mean of the paper's six": _gains(study, "six", beside)}
    sides = [({"method": "D alone"}, {"method": m}) for m in ("csq", "centres alone")]
    found["D alone, less CSQ"] = _gains(study, "map", sides, control="")
    titles = [study.titles[data] for data in DATA]
    header = [f"{name}{which}" for name in titles for which in ("", ", targets")]
    rows = [
        [name, *(each and decimal(each.mean, sign=True) for each in effects)]
        for name, effects in found.items()
    ]
    errors = (each.error for effects in found.values() for each in effects if each)
    return markdown(["mAP at 32 bits, D less", *header], rows), decimal(max(errors))


def _gains(study: "Study", metric: str, sides: Any, **only: Any) -> list[Effect | None]:
    part = "ranking" if metric == "map" else "mean"
    only |= {"head": "linear"} if metric == "map" else {}
    return [
        controls.effect_of(
            study, *both, {**only, "data": d, "bits": 32}, part=part, metric=metric
        )
        for d in DATA
        for both in sides
    ]
