"""Accuracy of the codes of items, decoded in every way to those of classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.classify import Codebook
from fewbits.classify.decoders import Bounded, Exact, Nearest, Orbgrand, Soft
from fewbits.codes import pack, smallest_distance
from fewbits.encoders import Encoder
from research.common.decoding import decoding_credits, matching_bits
from research.common.problems import Problem
from research.common.svm import svm_of_best_cost
from research.core.record import Metrics

BUDGETS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
RADII = (0, 1, 2, 3, 4)
FEATURE_COSTS = (0.3, 1.0, 3.0, 10.0)


def decoded(
    encoder: Encoder,
    book: Codebook,
    problem: Problem,
    n_bits: int | None = None,
    budgets: Sequence[int] = BUDGETS,
) -> Metrics:
    """Return the accuracy of every decoder with the first bits of the codes."""
    n_bits = n_bits or encoder.n_bits
    book = book.prefix(n_bits)
    scores = encoder.project(problem.X[problem.query])[:, :n_bits]
    scores = np.ascontiguousarray(scores)
    codes, truth = pack(scores >= 0), problem.labels[problem.query]

    def right(found: Any, **options: Any) -> float:
        return float(decoding_credits(book, found, truth, **options).mean())

    exact, nearest = Exact().decode(book, codes), Nearest().decode(book, codes)
    within = [Bounded(r, method="look-ups").decode(book, codes) for r in RADII]
    metrics = {
        "unique": book.n_unique,
        "min_distance": smallest_distance(book.codes),
        "exact": right(exact),
        "exact, paper": right(exact, codes=codes, credit="paper"),
        "nearest": right(nearest),
        # Of k classes that are equally near, each counts 1 / k.
        "nearest, expected": right(nearest, codes=codes, credit="expected"),
        "soft": right(Soft().decode(book, scores, zero_bit=1)),
        "within": [right(found) for found in within],
        # As a hash table has it; among few classes comparing with all is less work.
        "within, look-ups": [float(found.lookups.mean()) for found in within],
        "matching_bits": matching_bits(book, codes, truth),
    }
    for order in ("ranks", "costs"):
        guesses = [
            Orbgrand(budget, order=order).decode(book, scores, zero_bit=1)
            for budget in budgets
        ]
        metrics[f"guessed by {order}"] = [right(found) for found in guesses]
        metrics[f"guesses by {order}"] = [float(g.lookups.mean()) for g in guesses]
    return metrics


def accuracies(book: Codebook, items: Any, truth: Any, **options: Any) -> Metrics:
    """Return how often codes are those of the class: exactly, or nearest to it."""
    exact, nearest = Exact().decode(book, items), Nearest().decode(book, items)
    near = decoding_credits(book, nearest, truth, **options)
    exactly = decoding_credits(book, exact, truth)
    return {"exact": float(exactly.mean()), "nearest": float(near.mean())}


def linear_accuracy(
    problem: Problem, Z: NDArray[np.float32], costs: Sequence[float]
) -> float:
    """Return the accuracy of a linear SVM, its cost chosen on the training items."""
    train, test = problem.train, problem.query
    scale = float(np.mean(np.sum(Z[train] ** 2, axis=1)))
    sides = Z[train], problem.labels[train], Z[test], problem.labels[test]
    return svm_of_best_cost(*sides, [cost / scale for cost in costs]).value
