"""Distances between and within classes, by brute force, and what they bound."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.analysis.bounds import code_bound
from fewbits.codes import hamming_distances, pack, unpack
from fewbits.errors import ArgumentError, CodeError


def clusters(n_classes, n_each, n_bits, noise, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.random((n_classes, n_bits)) < 0.5
    bits = centres.repeat(n_each, axis=0)
    bits ^= rng.random(bits.shape) < noise
    return pack(bits), np.arange(n_classes).repeat(n_each)


def by_hand(codes, n_bits, members):
    """Centres, D_inter and D_intra from lists of items, class by class."""
    bits = unpack(codes, n_bits).astype(int)
    centres = np.array([bits[rows].mean(axis=0) >= 0.5 for rows in members])
    inter = [
        int((a != b).sum()) for i, a in enumerate(centres) for b in centres[i + 1 :]
    ]
    intra = [
        int((bits[row] != centre).sum())
        for rows, centre in zip(members, centres, strict=True)
        for row in rows
    ]
    return centres, inter, intra


def test_distances_by_brute_force():
    codes, labels = clusters(7, 9, 21, 0.2)
    order = np.random.default_rng(1).permutation(len(codes))
    codes, labels = codes[order], labels[order]
    bound = code_bound(codes, 21, labels)
    members = [np.flatnonzero(labels == c) for c in range(7)]
    centres, inter, intra = by_hand(codes, 21, members)
    assert (unpack(bound.centres, 21) == centres).all()
    assert (bound.inter.counts == np.bincount(inter, minlength=22)).all()
    assert (bound.intra.counts == np.bincount(intra, minlength=22)).all()
    assert (bound.min_inter, bound.max_intra) == (min(inter), max(intra))
    assert bound.strict_ratio == min(inter) / max(intra)
    assert bound.widths.max() == max(intra)
    distances = hamming_distances(bound.centres, bound.centres) + 99 * np.eye(7)
    assert (bound.gaps == distances.min(axis=1)).all()
    assert (bound.nearest == distances.argmin(axis=1)).all()


def test_several_labels_for_an_item():
    rng = np.random.default_rng(0)
    codes = pack(rng.random((40, 12)) < 0.5)
    labels = (rng.random((40, 6)) < 0.3).astype(int)
    labels[:, 2] = 0  # a label that no item has
    bound = code_bound(codes, 12, labels)
    assert bound.classes.tolist() == [0, 1, 3, 4, 5]
    members = [np.flatnonzero(labels[:, c]) for c in bound.classes]
    centres, inter, intra = by_hand(codes, 12, members)
    assert (unpack(bound.centres, 12) == centres).all()
    assert bound.intra.counts.sum() == labels.sum() == len(intra)
    assert (bound.intra.counts == np.bincount(intra, minlength=13)).all()
    assert (bound.inter.counts == np.bincount(inter, minlength=13)).all()


def test_one_hot_labels_are_labels():
    codes, labels = clusters(4, 5, 16, 0.2)
    assert (
        code_bound(codes, 16, np.eye(4)[labels]).summary()
        == code_bound(codes, 16, labels).summary()
    )


def test_percentiles_leave_out_one_in_a_thousand():
    near = np.zeros((999, 64), bool)
    far = np.arange(64) < 9
    apart = np.arange(64) >= 32
    bits = np.vstack([near, far, np.repeat(apart[None], 1000, axis=0)])
    labels = np.repeat(["a", "b"], 1000)
    bound = code_bound(pack(bits), 64, labels)
    assert (bound.max_intra, bound.high_intra) == (9, 0)
    assert (bound.strict_ratio, bound.ratio) == (32 / 9, 32.0)  # at least 1 below


@given(st.lists(st.integers(0, 8), min_size=300, max_size=700))
def test_percentiles_are_the_inverse_of_the_distribution(distances):
    rows = np.arange(8) < np.array(distances)[:, None]
    zero = np.zeros((2 * len(rows) + 1, 8), bool)  # keeps the centre at zero
    bits = np.vstack([rows, zero, np.ones((1, 8), bool)])
    labels = [0] * (len(bits) - 1) + [1]
    bound = code_bound(pack(bits), 8, labels)
    intra = [*distances, *[0] * (len(zero) + 1)]
    assert bound.high_intra == np.quantile(intra, 0.999, method="inverted_cdf")


def test_ties_of_the_majority_become_ones():
    bound = code_bound(pack([[0, 1], [1, 0], [0, 0]]), 2, ["a", "a", "b"])
    assert unpack(bound.centres, 2).tolist() == [[1, 1], [0, 0]]


@given(st.integers(0, 1000))
def test_no_code_is_nearer_to_a_class_than_its_centre(seed):
    rng = np.random.default_rng(seed)
    codes = pack(rng.random((7, 5)) < 0.5)
    bound = code_bound(codes, 5, [0, 0, 0, 0, 0, 0, 1])
    every = pack((np.arange(32)[:, None] >> np.arange(5)) & 1)
    sums = hamming_distances(every, codes[:6]).sum(axis=1)
    assert hamming_distances(bound.centres[:1], codes[:6]).sum() == sums.min()


def test_classes_of_one_item_have_no_width():
    codes, _ = clusters(6, 1, 32, 0.0)
    bound = code_bound(codes, 32, list("abcdef"))
    assert (bound.centres == codes).all()
    assert bound.max_intra == 0
    assert bound.strict_ratio == bound.min_inter
    summary = bound.summary()
    assert set(summary["closest_classes"]) < set("abcdef")
    assert summary["widest_class"] == "a"


def test_many_items_of_a_thousand_classes():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (200_000, 8), np.uint8)
    labels = rng.integers(0, 1000, 200_000)
    bound = code_bound(codes, 64, labels)
    assert bound.inter.counts.sum() == 499_500
    assert bound.intra.counts.sum() == 200_000


def test_mistakes_in_labels():
    codes, labels = clusters(3, 4, 8, 0.1)
    cases = [
        (labels[:5], "one label for each of 12 items"),
        (np.zeros(12), "at least 2 with items, got 1"),
        (np.zeros((12, 3)), "no item has a label"),
        (np.ones((11, 3)), "a row of labels for each of 12 items"),
        (np.full((12, 2), 2), "0 and 1 only, got 2"),
    ]
    for wrong, message in cases:
        with pytest.raises(ArgumentError, match=message):
            code_bound(codes, 8, wrong)
    with pytest.raises(CodeError, match="beyond their 5"):
        code_bound(codes, 5, labels)
