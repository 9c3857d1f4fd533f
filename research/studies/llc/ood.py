"""Section 4.3: items of no known class, by codes and by scores that need a threshold.

Codes of classes accept what lies within a radius: 0 or 1, as in the paper, or one whose
rate of false acceptance is predicted, by the code space alone or by known classes that
are left out in turn. Unknown are Caltech-101's background images, or a quarter of the
classes. A fifth of the items is held out from learning for these rates.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fewbits.decoding import (
    careful_region,
    hidden_class_rates,
    known_region,
    predicted_region,
)
from fewbits.errors import ArgumentError
from fewbits.evaluation import (
    Summary,
    code_neighbour_score,
    detection,
    energy,
    max_logit,
    max_softmax,
    neighbour_score,
    ood_scores,
    wrong_mixture,
)
from research.common.class_codes import llc
from research.common.features import load_image_features
from research.common.problems import Problem, load_problem
from research.core.record import Metrics, Settings
from research.core.runner import Task, task
from research.studies.llc.codebooks import BESIDE, beside

BACKGROUND, HELD_OUT = "background", "held-out classes"
LENGTHS, RADII, RATES = (10, 14, 20, 32, 64), (0, 1), (0.01, 0.05, 0.2)
#: Of errors of the linear classifier; that which classifies held-out items best.
COSTS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
#: Shares of unknown items that a threshold is tuned on, and those met in use.
MIXTURES = (0.1, 0.5, 0.9)
BALANCED, F1 = "balanced accuracy", "F1 (foreign)"


def tasks(data: str, seed: int) -> Iterator[Task]:
    """Yield the cells of one seed."""
    for unknown in (BACKGROUND, HELD_OUT) if data == "caltech101" else (HELD_OUT,):
        for n_bits in LENGTHS:
            at = {"data": data, "bits": n_bits, "method": unknown, "seed": seed}
            yield task("ood", at, partial(measure, at))
            for peer in BESIDE:
                other = {**at, "method": peer, "foreign": unknown}
                yield task("ood_peers", other, partial(measure_peer, other))


@lru_cache(maxsize=1)
class Sides:
    """Items of known classes to learn from; known and unknown ones to tell apart."""

    def __init__(self, data: str, seed: int, unknown: str) -> None:
        whole = load_problem(data, seed)
        self.X, self.y = whole.X, whole.labels
        train, self.known = whole.train, whole.query
        if unknown == BACKGROUND:
            images, _ = load_image_features(data, "efficientnet-lite0-128")
            labels = images.labels["class"]
            self.unknown = np.flatnonzero(labels == "BACKGROUND_Google")
        else:
            order = np.random.default_rng(seed).permutation(whole.classes)
            unseen = order[: len(order) // 4]
            self.unknown = self.known[np.isin(self.y[self.known], unseen)]
            train, self.known = (
                rows[~np.isin(self.y[rows], unseen)] for rows in (train, self.known)
            )
        by_class = train[np.argsort(self.y[train], kind="stable")]
        self.held_out = by_class[::5]
        self.learn = np.setdiff1d(by_class, self.held_out)

    @cached_property
    def scores(self) -> dict[str, tuple[NDArray[np.float64], ...]]:
        """Scores of both sides by features, high for what looks known."""
        X, y = self.X[self.learn], self.y[self.learn]
        made = [
            make_pipeline(StandardScaler(), LogisticRegression(C=C, max_iter=300))
            for C in COSTS
        ]
        held_out = self.X[self.held_out], self.y[self.held_out]
        best = max(made, key=lambda each: each.fit(X, y).score(*held_out))
        sides = self.X[self.known], self.X[self.unknown]
        logits = [best.decision_function(side) for side in sides]
        return {
            "max softmax": tuple(map(max_softmax, logits)),
            "max logit": tuple(map(max_logit, logits)),
            "energy": tuple(map(energy, logits)),
            "features' neighbours": tuple(neighbour_score(s, X, 10) for s in sides),
        }


def measure(settings: Settings) -> Metrics:
    """Learn codes; accept by them, and by scores."""
    n_bits, seed = settings["bits"], settings["seed"]
    items = Sides(settings["data"], seed, settings["method"])
    learner = llc(n_bits, random_state=seed)
    learner.fit(items.X[items.learn], items.y[items.learn])
    learned, held_out, known, unknown = (
        learner.encode(items.X[rows])
        for rows in (items.learn, items.held_out, items.known, items.unknown)
    )
    book = learner.codebook_of_classes().codes
    scores = dict(items.scores)
    for name, others in (("items", learned), ("classes", book)):
        scores[f"nearness to codes of {name}"] = tuple(
            code_neighbour_score(codes, others, 1) for codes in (known, unknown)
        )
    rows = np.searchsorted(np.unique(items.y[items.learn]), items.y[items.held_out])
    rules = {}
    for name, region in regions(book, n_bits, held_out, rows).items():
        sides = region.accepts(known), region.accepts(unknown)
        mixtures = wrong_mixture(
            *scores["max logit"],
            *sides,
            validation_shares=MIXTURES,
            deployment_shares=MIXTURES,
            random_state=seed,
        )
        rules[name] = rule(region, *sides) | {
            "mixtures": [
                {"met": each.deployment_share, **means(each.untuned)}
                for each in mixtures
                if each.validation_share == each.deployment_share
            ]
        }
    tuned = [  # the same beside each rule
        {
            "tuned_on": each.validation_share,
            "met": each.deployment_share,
            **means(each.tuned),
        }
        for each in mixtures
    ]
    return {
        "scores": {name: told_apart(*each) for name, each in scores.items()},
        "rules": rules,
        "tuned": tuned,
    }


def measure_peer(settings: Settings) -> Metrics:
    """Learn codes otherwise; accept by how near they are to those of classes."""
    n_bits, seed = settings["bits"], settings["seed"]
    items = Sides(settings["data"], seed, settings["foreign"])
    problem = Problem(items.X, items.y, items.learn, items.known, items.learn)
    encoder, codebook = beside(problem, settings["method"], n_bits, seed)
    book = codebook.codes
    sides = [encoder.encode(items.X[rows]) for rows in (items.known, items.unknown)]
    found = told_apart(*(code_neighbour_score(each, book, 1) for each in sides))
    regions = {f"radius {r}": known_region(book, n_bits, r) for r in RADII}
    rules = {
        name: detection(*map(region.accepts, sides)).balanced_accuracy
        for name, region in regions.items()
    }
    return {**found, "rules": rules}


def told_apart(known: Any, unknown: Any) -> dict[str, Any]:
    """Return how well scores tell known from unknown items."""
    found = ood_scores(known, unknown)
    return {"auroc": found.auroc, "fpr95": found.fpr}


def regions(book: Any, n_bits: int, held_out: Any, rows: Any) -> dict[str, Any]:
    """Return the rules; those that a rate leaves no room for are left out."""
    hidden = hidden_class_rates(book, n_bits, held_out, rows)
    made = {f"radius {r}": known_region(book, n_bits, r) for r in RADII}
    models = {
        "predicted": partial(predicted_region, book, n_bits),
        "hidden classes": partial(hidden.region, book, n_bits),
        "the more careful": partial(careful_region, book, n_bits, hidden=hidden),
    }
    for rate in RATES:
        for name, region in models.items():
            try:
                made[f"{name}, {rate:g}"] = region(rate=rate)
            except ArgumentError:
                continue
    return made


def rule(region: Any, known: Any, unknown: Any) -> dict[str, Any]:
    """Return what a rule accepts."""
    return {
        "radius": region.radius,
        "predicted_rate": region.predicted_rate,
        "balanced": detection(known, unknown).balanced_accuracy,
        "known_accepted": float(known.mean()),
        "foreign_accepted": float(unknown.mean()),
    }


def means(found: Mapping[str, Summary]) -> Metrics:
    """Return what the claims need."""
    return {name: found[name].mean for name in (BALANCED, F1)}
