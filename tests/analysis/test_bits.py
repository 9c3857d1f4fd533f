"""Every number of the report equals the plain definition on unpacked bits."""

import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.analysis.bits import bit_report, diagnose_codes, distinct_bits
from fewbits.codes import pack
from fewbits.errors import ArgumentError, CodeError


@st.composite
def bit_matrices(draw):
    """Few rows and skewed bits, so that there are constant, equal and opposite ones."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, n_bits = draw(st.integers(1, 12)), draw(st.integers(1, 20))
    return rng.random((n, n_bits)) < rng.random(n_bits)


def reference_correlations(bits):
    varying = [column for column in bits.T if 0 < column.sum() < len(column)]
    return np.atleast_2d(np.corrcoef(varying)) if varying else np.empty((0, 0))


@given(bits=bit_matrices())
def test_bits_and_pairs_of_bits(bits):
    n_bits = bits.shape[1]
    report = bit_report(pack(bits), n_bits)
    np.testing.assert_allclose(report.balance, bits.mean(axis=0))
    constant = [j for j in range(n_bits) if len(set(bits[:, j])) == 1]
    assert report.summary()["constant_bits"] == len(constant)

    varying = [j for j in range(n_bits) if j not in constant]
    equal = {
        p for p in combinations(varying, 2) if (bits[:, p[0]] == bits[:, p[1]]).all()
    }
    heads = {j for j in varying if not any(b == j for _, b in equal)}
    opposite = {
        p
        for p in combinations(sorted(heads), 2)
        if (bits[:, p[0]] != bits[:, p[1]]).all()
    }
    if len(bits) > 1 and not any(" more" in text for text in report.warnings):
        for kind, expected in (("equal", equal), ("opposite", opposite)):
            answer = [
                text for text in report.warnings if text.endswith(f"always {kind}")
            ]
            groups = [map(int, re.findall(r"\d+", text)) for text in answer]
            assert {x for group in groups for x in combinations(group, 2)} == expected

    correlations = reference_correlations(bits)
    if len(correlations) < 2:
        assert np.isnan(report.largest_correlation)
        assert report.effective_bits == len(correlations)
        return
    others = np.abs(correlations[~np.eye(len(correlations), dtype=bool)])
    assert report.largest_correlation == pytest.approx(others.max(), abs=1e-12)
    assert report.mean_correlation == pytest.approx(others.mean(), abs=1e-12)
    eigenvalues = np.linalg.eigvalsh(correlations)
    participation = eigenvalues.sum() ** 2 / np.square(eigenvalues).sum()
    assert report.effective_bits == pytest.approx(participation)


@given(bits=bit_matrices(), n_classes=st.integers(1, 4))
def test_codes_and_distances(bits, n_classes):
    n, n_bits = bits.shape
    labels = np.arange(n) % n_classes
    report = bit_report(pack(bits), n_bits, labels)
    _, counts = np.unique(bits, axis=0, return_counts=True)
    assert report.n_distinct == len(counts)
    assert report.n_shared == counts[counts > 1].sum()
    assert report.largest_group == counts.max()

    kinds = {"distances": [], "within": [], "between": []}
    for i, j in combinations(range(n), 2):
        distance = int((bits[i] != bits[j]).sum())
        kinds["distances"].append(distance)
        kinds["within" if labels[i] == labels[j] else "between"].append(distance)
    for name, expected in kinds.items():
        histogram = getattr(report, name)
        assert (
            histogram.counts.tolist()
            == np.bincount(expected, minlength=n_bits + 1).tolist()
        )
    if kinds["within"] and kinds["between"]:
        near, far = np.array(kinds["within"])[:, None], np.array(kinds["between"])
        wins = (near < far).mean() + (near == far).mean() / 2
        assert report.separation == pytest.approx(wins)
    else:
        assert np.isnan(report.separation)


@given(bits=bit_matrices(), seed=st.integers(0, 99))
def test_distances_of_items_that_share_a_label(bits, seed):
    n, n_bits = bits.shape
    labels = np.random.default_rng(seed).random((n, 11)) < 0.1
    labels[0, 9] = True  # of no item at all, there is nothing to tell
    report = bit_report(pack(bits), n_bits, labels)
    kinds = {True: [], False: []}
    for i, j in combinations(range(n), 2):
        shared = bool((labels[i] & labels[j]).any())
        kinds[shared].append(int((bits[i] != bits[j]).sum()))
    for histogram, expected in ((report.within, True), (report.between, False)):
        counts = np.bincount(kinds[expected], minlength=n_bits + 1)
        assert histogram.counts.tolist() == counts.tolist()


def test_a_sample_of_pairs_that_share_a_label():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (400, 4), np.uint8)
    labels = (rng.random((400, 6)) < 0.2).astype(int)
    exact = bit_report(codes, 32, labels)
    sampled = bit_report(codes, 32, labels, n_pairs=20_000)
    for name in ("within", "between"):
        found, truth = getattr(sampled, name), getattr(exact, name)
        np.testing.assert_allclose(found.shares, truth.shares, atol=0.02)
    assert sampled.within.counts.sum() + sampled.between.counts.sum() == 20_000


def test_samples_are_seeded_and_near_the_truth():
    rng = np.random.default_rng(0)
    codes, labels = rng.integers(0, 256, (400, 4), np.uint8), rng.integers(0, 5, 400)
    exact = bit_report(codes, 32, labels)
    first, second = (bit_report(codes, 32, labels, n_pairs=20_000) for _ in range(2))
    assert first.largest_correlation == second.largest_correlation
    assert (first.balance == exact.balance).all()
    for name in ("distances", "between"):
        sampled = getattr(first, name)
        assert sampled.counts.sum() == 20_000
        assert (sampled.counts == getattr(second, name).counts).all()
        assert sampled.mean == pytest.approx(getattr(exact, name).mean, abs=0.1)
        np.testing.assert_allclose(
            sampled.shares, getattr(exact, name).shares, atol=0.015
        )
    # There are fewer pairs within than may be drawn.
    assert (first.within.counts == exact.within.counts).all()


def test_independent_bits_are_all_effective():
    codes = np.random.default_rng(0).integers(0, 256, (20_000, 8), np.uint8)
    report = bit_report(codes, 64)
    assert report.effective_bits == pytest.approx(64, abs=0.5)
    assert report.warnings == ()


def test_what_is_wrong_is_said_plainly():
    rng = np.random.default_rng(0)
    bits = rng.random((500, 12)) < 0.5
    bits[:, [0, 1]] = [0, 1]
    bits[:, 5] = bits[:, 2]
    bits[:, 7] = ~bits[:, 2]
    bits[:, 9] = rng.random(500) < 0.02
    bits[400:] = bits[400]
    labels = ["alone", *["a", "b"] * 249, "a"]
    messages = [
        "never change: 0 and 1",
        "2 and 5 are always equal",
        "2 and 7 are always opposite",
        "over 95% of the codes: 9",
        "105 items",
        "1 of 3 classes has one item",
        "in 50% of comparisons",
    ]
    warnings = bit_report(pack(bits), 12, labels).warnings
    assert all(words in line for words, line in zip(messages, warnings, strict=True))


def test_bits_that_are_nearly_the_same():
    bits = np.random.default_rng(0).random((1000, 10)) < 0.5
    bits[:, 1:] = bits[:, :1]
    bits[:10, 1] ^= True
    bits[10:30, 2] ^= True
    warnings = bit_report(pack(bits), 10).warnings
    assert "bits 0 and 1 are nearly the same: |r| = 0.98" not in warnings  # 3..9 are
    assert "bits 0, 3, 4, 5, 6, 7, 8 and 9 are always equal" in warnings
    worth = "the 10 bits that vary are correlated: together they are worth only 1.0"
    assert f"{worth} independent bits" in warnings
    warnings = bit_report(pack(bits[:, :2]), 2).warnings
    assert "bits 0 and 1 are nearly the same: |r| = 0.98" in warnings


def test_long_lists_are_cut():
    bits = np.zeros((100, 30), bool)
    bits[:, 20:] = np.random.default_rng(0).random((100, 10)) < 0.5
    assert bit_report(pack(bits), 30).warnings[0] == (
        "20 of 30 bits never change: 0, 1, 2, 3, 4, 5, 6, 7 and 12 more"
    )


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (
            ["x"] * 4,
            "all items are of one class, so there is no distance between classes",
        ),
        (
            [1, 2, 3, 4],
            "every class has one item, so there is no distance within classes",
        ),
    ],
)
def test_classes_without_pairs(labels, said):
    codes = np.array([[1], [2], [4], [9]], np.uint8)
    assert said in bit_report(codes, 8, labels).warnings


def test_one_code():
    report = bit_report(np.array([[7]], np.uint8), 8, ["x"])
    assert report.warnings == ("a single code says nothing about its bits",)
    assert report.distances.counts.sum() == 0
    assert report.summary()["mean_distance"] is None
    assert report.summary()["separation"] is None


def test_summary_is_plain():
    report = bit_report(np.array([[7], [1], [0]], np.uint8), 8)
    assert {type(value) for value in report.summary().values()} <= {int, float, list}


def test_mistakes():
    codes = np.array([[0b10101010]], np.uint8)
    with pytest.raises(ArgumentError, match="at least one code"):
        bit_report(codes[:0], 8)
    with pytest.raises(CodeError, match="beyond their 4"):
        bit_report(codes, 4)
    with pytest.raises(CodeError, match="9 bits need 2 bytes"):
        bit_report(codes, 9)
    with pytest.raises(ArgumentError, match="one label for each of 1 items"):
        bit_report(codes, 8, ["a", "b"])
    with pytest.raises(
        ArgumentError, match="labels must be classes, but are missing in 1 of 2"
    ):
        bit_report(codes.repeat(2, 0), 8, np.array(["a", None], object))
    with pytest.raises(ArgumentError, match="no item has a label"):
        bit_report(codes, 8, [[0, 0]])
    with pytest.raises(ArgumentError, match="n_pairs must be at least 1, got 0"):
        bit_report(codes, 8, n_pairs=0)


def random_bits(n, n_bits):
    return np.random.default_rng(0).integers(0, 2, (n, n_bits)).astype(np.uint8)


def alarms_of(bits, n_classes=None):
    return diagnose_codes(pack(bits), bits.shape[1], n_classes)


def test_good_codes_raise_no_alarm():
    for n, n_bits in ((99, 8), (200, 2), (1000, 64)):
        assert alarms_of(random_bits(n, n_bits)) == ()
    assert alarms_of(np.repeat(np.eye(4, dtype=np.uint8), 50, axis=0), 4) == ()


def test_alarms():
    bits = random_bits(200, 40)
    bits[:, 7] = 1
    assert alarms_of(bits) == ("bit 7 of 40 never changes",)
    assert alarms_of(bits[:99]) == ()
    same = np.repeat(random_bits(200, 2), 20, axis=1)
    told = alarms_of(same)
    assert (
        "the 40 bits that vary are correlated: together they are worth only 2.0"
        in told[0]
    )
    assert "100% of the items share their code with another" in told[1]
    # Of two classes that is as much as there can be; of twenty it is not.
    assert alarms_of(same, 2) == ()
    assert alarms_of(same, 20) == told
    assert alarms_of(same, 12) == told[1:]


def long_codes(n, n_bits, n_sources):
    """Return codes whose bits repeat those of few sources, with some noise."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (n, n_sources), np.uint8)
    noisy = bits[:, rng.integers(0, n_sources, n_bits)] ^ (
        rng.random((n, n_bits)) < 0.03
    )
    noisy[:, ::512] = 1
    return pack(noisy)


@pytest.mark.parametrize("n_sources", [3, 40])
def test_long_codes_are_judged_by_a_sample_of_bits(n_sources):
    codes = long_codes(5000, 2304, n_sources)
    sentences = diagnose_codes(codes, 2304)
    assert "5 of 2304 bits never change" in sentences[0]
    worth = [float(w) for w in re.findall(r"are worth only (\S+)", " ".join(sentences))]
    exact = bit_report(codes, 2304, n_pairs=1).effective_bits
    assert worth == ([pytest.approx(exact, rel=0.05)] if n_sources == 3 else [])


def test_too_few_long_codes_are_not_correlated():
    assert diagnose_codes(long_codes(200, 65_536, 3), 65_536)[1:] == ()


def test_many_bits_are_correlated_in_tiles():
    bits = np.random.default_rng(0).random((300, 2100)) < 0.5
    bits[:, 2099] = bits[:, 3]  # in different tiles
    report = bit_report(pack(bits), 2100, n_pairs=1)
    r = np.abs(np.corrcoef(bits.T))
    assert "bits 3 and 2099 are always equal" in report.warnings
    assert report.effective_bits == pytest.approx(2100**2 / np.square(r).sum())
    mean = (r.sum() - 2100) / (2100 * 2099)
    assert report.mean_correlation == pytest.approx(mean)


def flipped(bits, share, rng):
    return bits ^ (rng.random(bits.shape) < share)


def greedy(bits, order, n_shown):
    """Return what the matrix of all correlations chooses, and the matrix."""
    r = np.abs(np.corrcoef(bits.T))
    chosen = []
    for bit in order:
        if len(chosen) < n_shown and all(r[bit, other] <= 0.5 for other in chosen):
            chosen.append(bit)
    return chosen, r


@pytest.mark.parametrize("n_shown", [1, 4, 30])
def test_equals_looking_at_all_correlations(n_shown):
    rng = np.random.default_rng(0)
    own = rng.integers(0, 2, (3000, 10)).astype(bool)
    copies = [flipped(own, share, rng) for share in (0.05, 0.3, 0.9)]
    bits = np.concatenate([own, *copies], axis=1)
    order = rng.permutation(40)
    found = distinct_bits(pack(bits), 40, order, n_shown=n_shown)
    chosen, r = greedy(bits, order, n_shown)
    assert list(found) == chosen
    for bit, alike in found.items():
        nearest = np.array(chosen)[r[chosen].argmax(axis=0)]
        expected = [b for b in order if r[bit, b] > 0.5 and nearest[b] == bit]
        assert alike == [b for b in expected if b not in chosen]


def test_bits_that_are_asked_for_are_shown_all():
    bits = np.random.default_rng(0).integers(0, 2, (500, 3))
    codes = pack(bits[:, [0, 0, 1, 1, 2]])
    assert distinct_bits(codes, 5, first=[3, 2, 3]) == {3: [], 2: [], 0: [1], 4: []}
    assert distinct_bits(codes, 5, first=[3, 0], n_shown=1) == {3: [2], 0: [1]}


def test_constant_bits_are_like_nothing():
    codes = np.full((200, 1), 0b11110000, np.uint8)
    assert list(distinct_bits(codes, 8)) == list(range(8))


def test_few_codes_are_alike_by_chance():
    bits = np.random.default_rng(0).integers(0, 2, (12, 64))
    assert len(distinct_bits(pack(bits), 64, n_shown=64)) == 64


def test_mistakes_of_distinct_bits():
    codes = np.zeros((2, 1), np.uint8)
    with pytest.raises(ArgumentError, match="no bit 8 in codes of 8 bits"):
        distinct_bits(codes, 8, first=[8])
    with pytest.raises(ArgumentError, match="n_shown must be at least 1, got 0"):
        distinct_bits(codes, 8, n_shown=0)
