"""LLC's detection of unknown items, section 4.3, beside scores that need a threshold.

    python -m experiments.llc_foreign --data caltech101

Codes of classes accept what lies near them: within a radius of 0 or 1, as the paper has
it, or within one whose rate of false acceptance is predicted, from the code space
alone, from known classes, each left out in turn, or by the more careful of both.
Beside them stand scores of a linear classifier on the features, and distances to known
items, and radii around codes of classes that were made otherwise: the centres of
OrthoHash, and the majorities of codes by PCA and a random rotation. Unknown are
Caltech-101's background images, or a quarter of the classes, which
nobody trained on. Known classes play unknown ones by a fifth of their items that is
held out: codes of items that were trained on lie nearer to their class than others
will.
"""

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from experiments._cells import Cell, Cells
from experiments._features import load_image_features
from experiments._hash_problems import load_problem
from experiments._llc_problems import ClassProblem
from experiments._options import Bits, Data, Only, Seeds, wanted
from experiments.llc import BESIDE, beside
from fewbits.errors import ArgumentError
from fewbits.evaluation import (
    PriorShiftResult,
    Summary,
    code_neighbour_score,
    detection,
    energy,
    max_logit,
    max_softmax,
    neighbour_score,
    ood_scores,
    threshold_under_prior_shift,
)
from fewbits.learners.deep import LLC
from fewbits.ood import (
    acceptance_region,
    conservative_region,
    leave_one_class_out_rates,
    predicted_region,
)
from research.common.settings import configured

FOREIGN = ("background", "held-out classes")
LENGTHS = (10, 14, 20, 32, 64)
#: A score for each item, beside all within a radius.
NEARNESS, RADII = "nearness to codes of classes", (0, 1)
RATES = (0.01, 0.05, 0.2)
N_ITER, CODEBOOK_EPOCHS = 100, 50
#: Of errors of the linear classifier; that which classifies the items aside best.
COSTS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
#: Shares of unknown items that a threshold is tuned on, and met in use.
TUNED_ON, MET = (0.1, 0.5, 0.9), (0.1, 0.5, 0.9)
#: Of two predictions, as `fewbits classify --max-false-accept-rate` has it.
CAREFUL = "the more careful"
MEASURES = BALANCED, F1 = "balanced accuracy", "F1 (unknown)"


def main(data: Data, seeds: Seeds = 3, bits: Bits = None, only: Only = None) -> None:
    """Measure every cell that is not measured yet."""
    cells, peers = Cells("llc_foreign"), Cells("llc_foreign_peers")
    for name in data:
        for seed in range(seeds):
            for method in foreign_of(name):
                problem = Problem(name, seed, method)
                for n_bits in LENGTHS:
                    cell = {"data": name, "bits": n_bits, "method": method}
                    cell["seed"] = seed
                    if wanted(cell, only, bits):
                        cells.measure(cell, partial(problem.figures, n_bits))
                    for peer in BESIDE:
                        other = {**cell, "method": peer, "unknown": method}
                        if wanted(other, only, bits):
                            ask = partial(problem.figures_of_peer, peer, n_bits)
                            peers.measure(other, ask)


def foreign_of(name: str) -> tuple[str, ...]:
    """Return what is unknown: only Caltech-101 has images of no class."""
    return FOREIGN if name == "caltech101" else FOREIGN[1:]


class Problem:
    """Items of known classes to learn from, known and unknown ones to tell apart."""

    def __init__(self, name: str, seed: int, unknown: str) -> None:
        whole = load_problem(name, seed)
        self.X, self.y, self.seed = whole.X, whole.labels, seed
        classes = np.unique(self.y[whole.train])
        rng = np.random.default_rng(seed)
        if unknown == "background":
            data, _ = load_image_features("caltech101", "efficientnet-lite0-128")
            self.unknown = np.flatnonzero(data.labels["class"] == "BACKGROUND_Google")
            self.train, self.known = whole.train, whole.query
        else:
            unseen = rng.permutation(classes)[: len(classes) // 4]
            self.unknown = whole.query[np.isin(self.y[whole.query], unseen)]
            self.train, self.known = (
                rows[~np.isin(self.y[rows], unseen)]
                for rows in (whole.train, whole.query)
            )

        by_class = self.train[np.argsort(self.y[self.train], kind="stable")]
        self.held_out = by_class[::5]
        self.learn = np.setdiff1d(by_class, self.held_out)

    def figures(self, n_bits: int) -> Cell:
        """Learn codes; accept by them, and by scores."""
        learner = configured(
            LLC,
            n_bits,
            codebook_epochs=CODEBOOK_EPOCHS,
            max_epochs=N_ITER,
            bias=False,
            random_state=self.seed,
        ).fit(self.X[self.learn], self.y[self.learn])
        learnt, aside, known, unknown = (
            learner.encode(self.X[rows])
            for rows in (self.learn, self.held_out, self.known, self.unknown)
        )
        book = learner.codebook_of_classes().codes
        scores = dict(self.scores)
        for name, others in (("nearness to codes of items", learnt), (NEARNESS, book)):
            sides = (code_neighbour_score(c, others, 1) for c in (known, unknown))
            scores[name] = tuple(sides)
        found: Cell = {"scores": {}, "rules": {}}
        for name, (inside, outside) in scores.items():
            measured = ood_scores(inside, outside)
            found["scores"][name] = {"auroc": measured.auroc, "fpr95": measured.fpr}
        for name, region in self.regions(book, n_bits, aside).items():
            sides = region.accepts(known), region.accepts(unknown)
            mixtures = threshold_under_prior_shift(
                *scores["max logit"],
                *sides,
                validation_shares=TUNED_ON,
                deployment_shares=MET,
                random_state=self.seed,
            )
            found["rules"][name] = rule(region, *sides, mixtures)
        found["tuned"] = tuned(mixtures)  # the same beside each rule
        return found

    def figures_of_peer(self, method: str, n_bits: int) -> Cell:
        """Learn codes otherwise; accept by how near they are to those of classes."""
        items = ClassProblem(self.X, self.y, self.learn, self.known)
        encoder, codebook = beside(items, method, n_bits, self.seed)
        book = codebook.codes
        sides = [encoder.encode(self.X[rows]) for rows in (self.known, self.unknown)]
        measured = ood_scores(*(code_neighbour_score(c, book, 1) for c in sides))
        found: Cell = {"auroc": measured.auroc, "fpr95": measured.fpr, "rules": {}}
        for radius in RADII:
            region = acceptance_region(book, n_bits, radius)
            accepted = [region.accepts(side) for side in sides]
            balanced = detection(*accepted).balanced_accuracy
            found["rules"][f"radius {radius}"] = balanced
        return found

    @cached_property
    def scores(self) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Scores of known and unknown items by features, high for what looks known."""
        X, y = self.X[self.learn], self.y[self.learn]
        made = [linear_classifier(cost).fit(X, y) for cost in COSTS]
        aside = self.X[self.held_out], self.y[self.held_out]
        classifier = max(made, key=lambda each: each.score(*aside))
        sides = self.X[self.known], self.X[self.unknown]
        logits = [classifier.decision_function(side) for side in sides]
        return {
            "max softmax": tuple(map(max_softmax, logits)),
            "max logit": tuple(map(max_logit, logits)),
            "energy": tuple(map(energy, logits)),
            "features' neighbours": tuple(neighbour_score(s, X, 10) for s in sides),
        }

    def regions(self, book: Any, n_bits: int, aside: Any) -> dict[str, Any]:
        """Return the rules; those that a rate leaves no room for are left out."""
        rows = np.searchsorted(np.unique(self.y[self.learn]), self.y[self.held_out])
        hidden = leave_one_class_out_rates(book, n_bits, aside, rows)
        made: dict[str, Any] = {
            f"radius {radius}": acceptance_region(book, n_bits, radius)
            for radius in RADII
        }
        models = {
            "predicted": partial(predicted_region, book, n_bits),
            "hidden classes": partial(hidden.region, book, n_bits),
            CAREFUL: partial(conservative_region, book, n_bits, hidden=hidden),
        }
        for rate in RATES:
            for name, region in models.items():
                try:
                    made[f"{name}, {rate:g}"] = region(rate=rate)
                except ArgumentError:
                    continue
        return made


def linear_classifier(cost: float) -> Any:
    """Return an untrained classifier of standardised features."""
    return make_pipeline(StandardScaler(), LogisticRegression(C=cost, max_iter=300))


def rule(
    region: Any,
    known: NDArray[np.bool_],
    unknown: NDArray[np.bool_],
    mixtures: list[PriorShiftResult],
) -> Cell:
    """Return what a rule accepts, of mixtures, too: it knows of no validation."""
    return {
        "radius": region.radius,
        "predicted_rate": region.predicted_rate,
        "balanced": detection(known, unknown).balanced_accuracy,
        "known_accepted": float(known.mean()),
        "unknown_accepted": float(unknown.mean()),
        "mixtures": [
            {"met": each.deployment_share, **means(each.untuned)}
            for each in mixtures
            if each.validation_share == each.deployment_share
        ],
    }


def tuned(mixtures: list[PriorShiftResult]) -> list[Cell]:
    """Return what thresholds do that are tuned on one mixture and meet another."""
    return [
        {
            "tuned_on": each.validation_share,
            "met": each.deployment_share,
            **means(each.tuned),
        }
        for each in mixtures
    ]


def means(found: Mapping[str, Summary]) -> Cell:
    """Return the figures that the page and the claims need."""
    return {name: found[name].mean for name in MEASURES}


if __name__ == "__main__":
    typer.run(main)
