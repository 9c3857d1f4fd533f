"""Figures of one encoder."""

import time

import numpy as np

from fewbits.learners import LSH
from fewbits.training.tuning import Configuration
from fewbits.training.tuning._trial import Trial

X = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)


class Slow:
    """An encoder that takes a millisecond each time it is called."""

    def __init__(self, encoder):
        self.project, self._encode = encoder.project, encoder.encode

    def encode(self, rows):
        time.sleep(1e-3)
        return self._encode(rows)


def test_encode_time_is_that_of_a_vector_alone():
    trial = Trial(X[100:], None, X[:100], None, "recall", 5)
    encoder = Slow(LSH(16, random_state=0).fit(X).encoder_)
    (found,) = trial.measure(encoder, [Configuration("lsh", 16)], 0.0)
    assert found.encode_us > 1000
