"""The weight of errors of a linear SVM, chosen by cross-validation."""

import numpy as np

from fewbits.codes import pack
from research.common.svm import svm_of_best_cost


def test_weight_is_chosen_without_the_test_part():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 240)
    codes = pack((rng.random((3, 20)) < 0.5)[y] ^ (rng.random((240, 20)) < 0.2))
    sides = codes[:160], y[:160], codes[160:]
    first = svm_of_best_cost(*sides, y[160:], [1.0, 1e-4, 0.03], 20)
    wrong = svm_of_best_cost(*sides, np.roll(y[160:], 1), [1.0, 1e-4, 0.03], 20)
    assert first.definition == wrong.definition
    assert first.definition.endswith(("C=0.0001", "C=0.03", "C=1"))
    assert first.value > 0.7
