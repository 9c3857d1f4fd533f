"""A second map for queries changes how codes are ranked, and no code."""

import numpy as np
import pytest

from fewbits.encoders import AdditiveEncoder, LinearEncoder, load
from fewbits.errors import ArgumentError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 6)).astype(np.float32)
WEIGHTS, BIAS = RNG.normal(size=(6, 9)), RNG.normal(size=9)
OTHER = {"query_weights": RNG.normal(size=(6, 9)), "query_bias": RNG.normal(size=9)}
KINDS = pytest.mark.parametrize("kind", [LinearEncoder, AdditiveEncoder])


@KINDS
def test_scores_of_queries_are_its_own(kind):
    expected = X @ OTHER["query_weights"] + OTHER["query_bias"]
    found = kind(WEIGHTS, BIAS, **OTHER).query_scores(X)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@KINDS
def test_codes_stay_as_they_are(kind):
    plain, other = kind(WEIGHTS, BIAS), kind(WEIGHTS, BIAS, **OTHER)
    np.testing.assert_array_equal(other.encode(X), plain.encode(X))
    np.testing.assert_array_equal(other.project(X), plain.project(X))
    assert other.fingerprint != plain.fingerprint


@KINDS
def test_it_is_there_after_saving_and_not_in_a_prefix(kind, tmp_path):
    encoder = kind(WEIGHTS, BIAS, **OTHER)
    encoder.save(tmp_path / "encoder.safetensors")
    loaded = load(tmp_path / "encoder.safetensors")
    scores = encoder.query_scores(X)
    np.testing.assert_array_equal(loaded.query_scores(X), scores)
    assert encoder.prefix(9) is encoder
    # They were trained for whole codes.
    plain = kind(WEIGHTS, BIAS).prefix(4)
    assert encoder.prefix(4).fingerprint == plain.fingerprint


def test_lengths_of_additive_codes_are_of_the_vectors_of_ranking():
    codes = AdditiveEncoder(WEIGHTS, BIAS).encode(X)
    ranking = AdditiveEncoder(OTHER["query_weights"], OTHER["query_bias"])
    found = AdditiveEncoder(WEIGHTS, BIAS, **OTHER).offsets(codes)
    np.testing.assert_array_equal(found, ranking.offsets(codes))


@KINDS
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"query_weights": WEIGHTS}, "need each other"),
        ({"query_bias": BIAS}, "need each other"),
        ({"query_weights": WEIGHTS[:, :5], "query_bias": BIAS[:5]}, "shape of weights"),
        (
            {"query_weights": WEIGHTS, "query_bias": BIAS[:5]},
            "query_weights and query_bias: .*one bias per bit",
        ),
        (
            {"query_weights": WEIGHTS * np.nan, "query_bias": BIAS},
            "query_weights and query_bias: .*finite",
        ),
    ],
)
def test_what_does_not_fit_is_refused(kind, given, message):
    with pytest.raises(ArgumentError, match=message):
        kind(WEIGHTS, BIAS, **given)
