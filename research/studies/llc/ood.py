"""Section 4.3: items of no known class, by codes and by scores that need a threshold.

Codes of classes accept what lies within a radius: 0 or 1, as in the paper, or one whose
false-accept rate is predicted, by the code space alone or by known classes that are
left out in turn, with a fifth of the items held out from learning.
"""

from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fewbits import ood
from fewbits.errors import ArgumentError
from fewbits.evaluation import ood as metrics
from research.common.class_codes import llc
from research.common.features import load_image_features
from research.common.problems import load_problem
from research.core.record import Metrics, Settings
from research.core.runner import Task, task

#: Unknown are Caltech-101's images of no class, or a quarter of the classes.
BACKGROUND, HELD_OUT = "background", "held-out classes"
LENGTHS, RADII, RATES = (10, 14, 20, 32, 64), (0, 1), (0.01, 0.05, 0.2)
#: Of errors of the linear classifier; that which classifies held-out items best.
COSTS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
#: Shares of unknown items that a threshold is tuned on, and those met in use.
MIXTURES = (0.1, 0.5, 0.9)
MEASURES = ("balanced accuracy", "F1 (unknown)")


def tasks(data: str, seed: int) -> Iterator[Task]:
    """Yield the cells of one seed."""
    for unknown in (BACKGROUND, HELD_OUT) if data == "caltech101" else (HELD_OUT,):
        for n_bits in LENGTHS:
            at = {"data": data, "bits": n_bits, "method": unknown, "seed": seed}
            yield task("ood", at, partial(measure, at))


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
            unseen = np.isin(self.y, order[: len(order) // 4])
            self.unknown = self.known[unseen[self.known]]
            train, self.known = train[~unseen[train]], self.known[~unseen[self.known]]
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
        near = tuple(metrics.neighbour_score(side, X, 10) for side in sides)
        return {
            "max softmax": tuple(map(metrics.max_softmax, logits)),
            "max logit": tuple(map(metrics.max_logit, logits)),
            "energy": tuple(map(metrics.energy, logits)),
            "features' neighbours": near,
        }


def measure(settings: Settings) -> Metrics:
    """Learn codes; accept by them, and by scores."""
    n_bits, seed = settings["bits"], settings["seed"]
    items = Sides(settings["data"], seed, settings["method"])
    learner = llc(n_bits, random_state=seed)
    learner.fit(items.X[items.learn], items.y[items.learn])
    parts = (items.learn, items.held_out, items.known, items.unknown)
    learned, held_out, *sides = (learner.encode(items.X[rows]) for rows in parts)
    book = learner.codebook_of_classes().codes
    scores = dict(items.scores)
    for name, others in (("items", learned), ("classes", book)):
        scores[f"nearness to codes of {name}"] = nearness(sides, others)
    rows = np.searchsorted(np.unique(items.y[items.learn]), items.y[items.held_out])
    hidden = ood.leave_one_class_out_rates(book, n_bits, held_out, rows)
    rules, mixed = {}, []
    for name, region in regions(book, n_bits, hidden).items():
        known, unknown = (region.accepts(side) for side in sides)
        scored_known, scored_unknown = scores["max logit"]
        mixed = metrics.threshold_under_prior_shift(
            scored_known,
            scored_unknown,
            known,
            unknown,
            validation_shares=MIXTURES,
            deployment_shares=MIXTURES,
            random_state=seed,
        )
        rules[name] = rule(region, known, unknown, mixed)
    tuned = [  # the same beside each rule
        {"tuned_on": each.validation_share, **met(each, each.tuned)} for each in mixed
    ]
    apart = {name: told_apart(each) for name, each in scores.items()}
    return {"scores": apart, "rules": rules, "tuned": tuned}


def nearness(sides: Any, others: Any) -> tuple[NDArray[np.float64], ...]:
    """Return how near codes of both sides are to others."""
    return tuple(metrics.code_neighbour_score(side, others, 1) for side in sides)


def told_apart(scores: Any) -> dict[str, float]:
    """Return how well scores tell known from unknown items."""
    found = metrics.ood_scores(*scores)
    return {"auroc": found.auroc, "fpr95": found.fpr}


def regions(book: Any, n_bits: int, hidden: Any) -> dict[str, Any]:
    """Return the rules; those that a rate leaves no room for are left out."""
    made = {f"radius {r}": ood.acceptance_region(book, n_bits, r) for r in RADII}
    models: dict[str, Callable[..., Any]] = {
        "predicted": partial(ood.predicted_region, book, n_bits),
        "hidden classes": lambda rate: hidden.region(book, n_bits, rate),
        "the more careful": partial(
            ood.conservative_region, book, n_bits, left_out=hidden
        ),
    }
    for rate in RATES:
        for name, region in models.items():
            try:
                made[f"{name}, {rate:g}"] = region(rate=rate)
            except ArgumentError:
                continue
    return made


def rule(region: Any, known: Any, unknown: Any, mixed: Any) -> dict[str, Any]:
    """Return what a rule accepts, of mixtures, too: it knows of no validation."""
    same = [each for each in mixed if each.validation_share == each.deployment_share]
    return {
        "radius": region.radius,
        "predicted_rate": region.predicted_rate,
        "balanced": metrics.detection(known, unknown).balanced_accuracy,
        "known_accepted": float(known.mean()),
        "unknown_accepted": float(unknown.mean()),
        "mixtures": [met(each, each.untuned) for each in same],
    }


def met(each: Any, found: Any) -> dict[str, float]:
    """Return the share that is met in use, and what the claims need."""
    return {
        "met": each.deployment_share,
        **{name: found[name].mean for name in MEASURES},
    }
