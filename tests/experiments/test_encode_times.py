"""Times of encoders: of a length all methods together, of the shapes that rank."""

import numpy as np
import pytest

from experiments import encode_times
from experiments._cells import Cells
from experiments._features import FeatureSet
from experiments.encode_times import encoder_of, measure, methods_at, timed
from experiments.neighbour_codes import FORMS
from fewbits import _kernels
from fewbits.encoders import SparseEncoder

LABELS = np.zeros(0, np.int64)


def made_up():
    X = np.random.default_rng(0).normal(size=(150, 16)).astype(np.float32)
    return FeatureSet(X[20:], X[:20], LABELS, LABELS)


def test_methods_of_a_length():
    found = methods_at("digits", 64, 64)
    assert {"threshold", "LSH", "BRE", *FORMS} <= set(found)
    assert not any("iterative" in name for name in found)
    assert "threshold" not in methods_at("digits", 64, 128)
    assert "BRE" not in methods_at("digits", 64, 1024)


def test_encoders_have_the_shape_of_those_that_rank():
    learner = methods_at("any", 16, 64)["SP 10%"]
    encoder = encoder_of(learner, made_up())
    assert isinstance(encoder, SparseEncoder)
    assert (encoder.n_features, encoder.n_bits) == (16, 64)
    assert len(encoder.values) == np.ceil(0.1 * 16 * 64)
    assert learner.n_iter == 1


def test_a_length_is_timed_as_a_whole(results, monkeypatch):
    few = {name: methods_at("any", 16, 8)[name] for name in ("LSH", "Hadamard 1")}
    monkeypatch.setattr(encode_times, "methods_at", lambda *_: few)
    turns = []
    monkeypatch.setattr(
        encode_times, "timed", lambda encoders, _: turns.append(1) or timed(encoders, _)
    )
    measure("any", made_up(), 8)
    known = {cell["cell"]["method"]: cell["figures"] for cell in Cells("encode_times")}
    assert set(known) == set(few)
    assert all(
        min(found["single_us"], found["batch_us"]) > 0 for found in known.values()
    )
    measure("any", made_up(), 8)
    assert len(turns) == 1
    few["LSH, too"] = few["LSH"]
    measure("any", made_up(), 8)
    assert len(turns) == 2
    lines = (results / "encode_times.jsonl").read_text().splitlines()
    assert len(lines) == 5  # all anew


def test_threads_are_given_back():
    before = _kernels.num_threads()
    with pytest.raises(AttributeError):
        timed({"broken": None}, made_up())
    assert _kernels.num_threads() == before
