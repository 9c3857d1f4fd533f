"""Section 4.3: items of no known class, by codes and by scores that need a threshold.

Codes of classes accept what lies within a radius of 0 or 1, as in the paper. Scores of
LLC's own outputs, of a linear classifier, of neighbours, and of a ridge regression that
is learnt without each class in turn are compared by the area under the ROC curve; the
last holds the rates that are asked for.
"""

from collections.abc import Iterator
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fewbits import ood
from fewbits.codes import pack
from fewbits.errors import ArgumentError
from research.common import ood as measures
from research.common.class_codes import llc
from research.common.features import load_image_features
from research.common.problems import load_problem
from research.core.record import Metrics, Settings
from research.core.runner import Task, task
from research.studies.llc.mixtures import threshold_under_prior_shift

#: Unknown are Caltech-101's images of no class, or a quarter of the classes.
BACKGROUND, HELD_OUT = "background", "held-out classes"
N_BITS, RADII, RATES = 20, (0, 1), (0.05, 0.2)
#: Of errors of the linear classifier.
COST = 0.01
#: Shares of unknown items that a threshold is tuned on, and those met in use.
MIXTURES = (0.1, 0.5, 0.9)
MEASURES = ("balanced accuracy", "F1 (unknown)")


def tasks(data: str, seed: int) -> Iterator[Task]:
    """Yield the cells of one seed."""
    for unknown in (BACKGROUND, HELD_OUT) if data == "caltech101" else (HELD_OUT,):
        at = {"data": data, "bits": N_BITS, "method": unknown, "seed": seed}
        yield task("ood", at, partial(measure, at))


@lru_cache(maxsize=1)
class Sides:
    """Items of known classes to learn from; known and unknown ones to tell apart."""

    def __init__(self, data: str, seed: int, unknown: str) -> None:
        whole = load_problem(data, seed)
        self.X, self.y = whole.X, whole.labels
        self.train, self.known = whole.train, whole.query
        if unknown == BACKGROUND:
            images, _ = load_image_features(data, "efficientnet-lite0-128")
            labels = images.labels["class"]
            self.unknown = np.flatnonzero(labels == "BACKGROUND_Google")
            return
        order = np.random.default_rng(seed).permutation(whole.classes)
        unseen = np.isin(self.y, order[: len(order) // 4])
        self.unknown = self.known[unseen[self.known]]
        self.train, self.known = (
            rows[~unseen[rows]] for rows in (self.train, self.known)
        )

    @property
    def tested(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Features of known and unknown items."""
        return self.X[self.known], self.X[self.unknown]

    @cached_property
    def scores(self) -> dict[str, tuple[NDArray[np.float64], ...]]:
        """Scores of both sides by features, high for what looks known."""
        linear = LogisticRegression(C=COST, max_iter=200)
        best = make_pipeline(StandardScaler(), linear)
        best.fit(self.X[self.train], self.y[self.train])
        logits = [best.decision_function(side) for side in self.tested]
        learned = self.X[self.train]
        near = tuple(measures.neighbour_score(s, learned, 10) for s in self.tested)
        return {
            "max softmax": tuple(map(measures.max_softmax, logits)),
            "max logit": tuple(map(measures.max_logit, logits)),
            "features' neighbours": near,
        }


def measure(settings: Settings) -> Metrics:
    """Learn codes; accept by them, and by scores."""
    seed = settings["seed"]
    items = Sides(settings["data"], seed, settings["method"])
    X, y = items.X[items.train], items.y[items.train]
    learner = llc(N_BITS, random_state=seed).fit(X, y)
    book = learner.codebook_of_classes().codes
    outputs = [learner.encoder_.project(side) for side in items.tested]
    sides = [pack(each >= 0) for each in outputs]
    scores = {**items.scores, **of_outputs(outputs, learner.codebook_)}
    scores["nearness to class codes"] = nearness(sides, book)
    rules: dict[str, Any] = {}
    for name in ood.SCORES:
        rejection = ood.learn_rejection(X, y, score=name)
        scores[name] = tuple(rejection.score(side) for side in items.tested)
        rules |= held(name, rejection, *scores[name])
    mixed = []
    for radius in RADII:
        region = ood.acceptance_region(book, N_BITS, radius)
        known, unknown = (region.accepts(side) for side in sides)
        mixed = threshold_under_prior_shift(
            *scores["max logit"],
            known,
            unknown,
            validation_shares=MIXTURES,
            deployment_shares=MIXTURES,
            random_state=seed,
        )
        rules[f"radius {radius}"] = rule(region, known, unknown, mixed)
    tuned = [  # the same beside each rule
        {"tuned_on": each.validation_share, **met(each, each.tuned)} for each in mixed
    ]
    apart = {name: measures.told_apart(*each) for name, each in scores.items()}
    return {"scores": apart, "rules": rules, "tuned": tuned}


def of_outputs(outputs: Any, book: NDArray[np.int8]) -> dict[str, tuple[Any, ...]]:
    """Return scores of the network's outputs, by the best of the class codes."""
    logits = [Z @ book.T for Z in outputs]
    likely = [-np.logaddexp(0, -Z[:, None] * book).sum(axis=2) for Z in outputs]
    # What soft decoding would have to flip, of the outputs' magnitudes.
    costs = [
        F.max(axis=1) - np.abs(Z).sum(axis=1)
        for F, Z in zip(logits, outputs, strict=True)
    ]
    return {
        "best logit over codes": tuple(each.max(axis=1) for each in logits),
        "likelihood of the nearest code": tuple(each.max(axis=1) for each in likely),
        "soft cost": tuple(costs),
    }


def held(name: str, rejection: Any, known: Any, unknown: Any) -> dict[str, Any]:
    """Return what each rate that is asked for comes to; none where it is refused."""
    found = {}
    for kind in ("max_false_reject_rate", "max_false_accept_rate"):
        for rate in RATES:
            try:
                told = rejection.threshold(**{kind: rate})
            except ArgumentError:
                continue
            rejected, accepted = known < told.threshold, unknown >= told.threshold
            found[f"{name}, {kind} {rate:g}"] = {
                "rate": rate,
                "known_rejected": float(rejected.mean()),
                "unknown_accepted": float(accepted.mean()),
                "rejects_at_most": told.false_reject_rate,
                "predicted_rate": told.false_accept_rate,
                "interval": told.false_accept_interval,
            }
    return found


def nearness(sides: Any, others: Any) -> tuple[NDArray[np.float64], ...]:
    """Return how near codes of both sides are to others."""
    return tuple(measures.code_neighbour_score(side, others, 1) for side in sides)


def rule(region: Any, known: Any, unknown: Any, mixed: Any) -> dict[str, Any]:
    """Return what a rule accepts, of mixtures, too: it knows of no validation."""
    same = [each for each in mixed if each.validation_share == each.deployment_share]
    return {
        "radius": region.radius,
        "predicted_rate": region.predicted_rate,
        "balanced": measures.detection(known, unknown).balanced_accuracy,
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
