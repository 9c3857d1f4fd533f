"""How hyperplanes lie: figures with known values, cells, and what the page says."""

import numpy as np
import pytest

from experiments import _hyperplanes_page, hyperplanes
from experiments._cells import Cells
from experiments._features import FeatureSet
from experiments._projections import lengths_of
from experiments._summary import by_method, figure
from fewbits.encoders import LinearEncoder


def test_looseness_of_frames_that_are_known():
    assert hyperplanes.looseness(np.eye(3, 5)) == pytest.approx(0)
    assert hyperplanes.looseness(np.ones((4, 1))) == pytest.approx(0)
    same = np.repeat(np.eye(1, 5), 4, axis=0)
    assert hyperplanes.looseness(same) == pytest.approx(3)  # 16 beside 4
    angles = 2 * np.pi * np.arange(3) / 3
    mercedes = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert hyperplanes.looseness(mercedes) == pytest.approx(0)
    three = np.vstack([np.eye(2), np.eye(1, 2)])
    assert hyperplanes.looseness(three) == pytest.approx(1 / 9)


def test_directions_are_unit_normals_without_those_of_dead_bits():
    weights = np.array([[3.0, 0, 0], [4.0, 2, 0]], np.float32)  # a row is a feature
    encoder = LinearEncoder(weights, np.array([1.0, -1, 1], np.float32))
    expected = [[0.6, 0.8], [0, 1]]
    np.testing.assert_allclose(hyperplanes.directions(encoder), expected, atol=1e-6)


def test_margin():
    rng = np.random.default_rng(0)
    gaussian = rng.normal(size=(100_000, 2)).astype(np.float32)
    assert hyperplanes.margin(gaussian) == pytest.approx(2 / np.pi, abs=0.01)
    assert hyperplanes.margin(np.sign(gaussian)) == pytest.approx(1)
    dead = np.zeros((100_000, 1), np.float32)
    assert hyperplanes.margin(np.hstack([np.sign(gaussian), dead])) == pytest.approx(1)


def test_lengths_are_those_that_are_ranked():
    for name, d in (("icd10", 256), ("glove", 50), ("caltech101-1280", 1280)):
        bits = {cell["bits"] for cell in hyperplanes.lineup(name, d, 0)}
        assert bits <= set(lengths_of(name, d))
        assert {d, 2 * d, 4 * d} <= bits


def test_page(results, monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 16)).astype(np.float32)
    features = FeatureSet(X[20:], X[:20], np.arange(280) % 3, np.arange(20) % 3)
    monkeypatch.setattr(hyperplanes, "load_features", lambda *_: features)
    monkeypatch.setattr(hyperplanes, "lengths_of", lambda *_: (16, 32))
    hyperplanes.main(["digits"], None, ["Hadamard 3", "ITQ", "SP 10%"])
    cell = {"data": "digits", "bits": 16, "method": "ITQ", "seed": 0}
    Cells("sparse_projections").measure(cell, lambda: {"ann_map": 0.25})
    text = "\n".join(_hyperplanes_page.hyperplanes())
    assert "| Hadamard 3 | .000 ± .000 | .000 ± .000 |" in text
    assert "**ANN mAP**\n|  | 16 bits |\n|---|---|\n| ITQ | .250 |" in text


def test_nothing_without_measurements(results):
    assert list(_hyperplanes_page.hyperplanes()) == []


def test_the_reading_is_as_measured():
    cells = [
        c for c in _hyperplanes_page.with_rankings() if c["cell"]["data"] == "icd10"
    ]
    figures = ("ann_map", "looseness", "margin", "effective_bits")
    at = {(name, n): means(cells, name, n) for name in figures for n in (256, 1024)}
    learnt = {"ITQ", "SP 100%"}
    others = set(hyperplanes.COMPARED) - learnt
    tight = others - {"SP 10%", "LSH"}
    for name in ("margin", "ann_map"):
        known = at[name, 256]
        assert min(known[m] for m in learnt) > max(known[m] for m in others)
    loose, ranked = at["looseness", 256], at["ann_map", 256]
    assert max(loose[m] for m in tight) < 0.05 < loose["SP 10%"] < loose["LSH"]
    assert min(ranked[m] for m in tight) > ranked["SP 10%"] > ranked["LSH"]
    short = means(cells, "looseness", 64)  # as reasons of claims have it
    assert short["SP 10%"] > short["SP 1%"] > short["SP 100%"]
    short = means(cells, "effective_bits", 64)
    assert short["SP 10%"] < short["LSH"]
    bits, ranked = at["effective_bits", 1024], at["ann_map", 1024]
    assert max(bits[m] for m in learnt) < min(bits[m] for m in others)
    assert max(ranked[m] for m in learnt) < min(
        ranked[m] for m in ("LSH", "Hadamard 3")
    )
    assert at["looseness", 1024]["SP 10%"] < 0.05
    assert at["margin", 1024]["SP 10%"] < min(at["margin", 1024][m] for m in learnt)
    assert abs(ranked["SP 10%"] - ranked["Hadamard 3"]) < 0.005


def means(cells, name, n_bits):
    table = by_method(cells, figure(name), "bits")
    return {
        method: found[n_bits][0] for method, found in table.items() if n_bits in found
    }
