"""Trees over classes, and their agreement with known ones, by brute force."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import (
    cophenet,
    is_valid_linkage,
    leaves_list,
    linkage,
)
from scipy.spatial.distance import pdist, squareform

from fewbits.analysis.taxonomy import taxonomy, tree_agreement
from fewbits.codes import hamming_distances, pack
from fewbits.errors import ArgumentError, CodeError


def random_codes(n, n_bits, seed=0):
    return pack(np.random.default_rng(seed).random((n, n_bits)) < 0.5)


def nested(n_orders=4, n_families=3, n_species=4, n_bits=64, seed=0):
    """Codes of species, whose bits differ little within families, and their paths."""
    rng = np.random.default_rng(seed)
    bits, paths = [], []
    for order in range(n_orders):
        of_order = rng.random(n_bits) < 0.5
        for family in range(n_families):
            of_family = of_order ^ (rng.random(n_bits) < 0.2)
            for _ in range(n_species):
                bits.append(of_family ^ (rng.random(n_bits) < 0.06))
                paths.append((f"order {order}", f"family {family}"))
    return pack(np.array(bits)), paths


def test_merges_are_those_of_scipy_where_nothing_ties():
    bits = np.repeat(np.eye(9, dtype=int), 2 ** np.arange(9), axis=1)  # no ties
    tree = taxonomy(pack(bits), bits.shape[1])
    distances = pdist(bits, "hamming") * bits.shape[1]
    expected = linkage(distances, "average")
    assert is_valid_linkage(tree.linkage)
    assert tree.linkage[:, 2:] == pytest.approx(expected[:, 2:])
    assert tree.cophenetic == pytest.approx(cophenet(expected))
    assert tree.distances == pytest.approx(distances)
    correlation = cophenet(expected, distances)[0]
    assert tree.cophenetic_correlation == pytest.approx(correlation)


def test_distances_are_in_the_order_of_the_classes():
    codes = random_codes(300, 24)
    for part in (codes, codes[:50]):  # leaves are ordered in the smaller one
        tree = taxonomy(part, 24)
        assert (squareform(tree.distances) == hamming_distances(part, part)).all()
        assert sorted(tree.order) == list(range(len(part)))
        nearest = tree.linkage[0, 2]
        a, b = tree.linkage[0, :2].astype(int)
        assert nearest == tree.distances.min() == hamming_distances(part, part)[a, b]


@given(st.integers(0, 1000))
def test_the_tree_does_not_depend_on_the_order_of_the_classes(seed):
    codes = np.unique(random_codes(20, 6, seed), axis=0)  # many ties
    shuffle = np.random.default_rng(seed).permutation(len(codes))
    tree, other = taxonomy(codes, 6), taxonomy(codes[shuffle], 6)
    meetings = squareform(tree.cophenetic)
    assert (meetings[np.ix_(shuffle, shuffle)] == squareform(other.cophenetic)).all()


def test_order_turns_neighbours_towards_each_other():
    codes, _ = nested()
    tree = taxonomy(codes, 64)
    plain = linkage(tree.distances, "average")
    distances = squareform(tree.distances)

    def length(order):
        return distances[order[:-1], order[1:]].sum()

    assert length(tree.order) <= length(leaves_list(plain))


def test_classes_that_share_a_code():
    tree = taxonomy(np.array([[0], [0], [255]], np.uint8), 8, ["a", "b", "c"])
    assert sorted(tree.linkage[0].tolist()) == [0, 0, 1, 2]
    every = taxonomy(np.zeros((4, 1), np.uint8), 8)
    assert np.isnan(every.cophenetic_correlation)


def test_two_classes():
    tree = taxonomy(np.array([[0], [7]], np.uint8), 8)
    assert tree.names == ("0", "1")
    assert tree.linkage.tolist() == [[0, 1, 3, 2]]
    assert np.isnan(tree.cophenetic_correlation)


def purity(tree, groups):
    agreement = tree_agreement(tree, [[group] for group in groups], n_permutations=1)
    return agreement.purity[0].purity.value


def pure_by_hand(tree, groups):
    """Follow the definition pair by pair."""
    n = len(tree.names)
    leaves = [{i} for i in range(n)]
    for a, b, *_ in tree.linkage:
        leaves.append(leaves[int(a)] | leaves[int(b)])
    shares = []
    for i, j in combinations(range(n), 2):
        if groups[i] == groups[j]:
            smallest = min((s for s in leaves if {i, j} <= s), key=len)
            shares.append(np.mean([groups[k] == groups[i] for k in smallest]))
    return np.mean(shares)


@given(
    seed=st.integers(0, 1000),
    groups=st.lists(st.sampled_from("abc"), min_size=5, max_size=12),
)
def test_purity_by_its_definition(seed, groups):
    groups = ["a", "b", *groups]  # more than one group
    codes = np.unique(random_codes(40, 12, seed), axis=0)[: len(groups)]
    tree = taxonomy(codes, 12)
    assert purity(tree, groups) == pytest.approx(pure_by_hand(tree, groups))


def known_distances(paths):
    """Heights of the deepest common group, pair by pair."""
    depth = max(map(len, paths))
    heights = []
    for a, b in combinations(paths, 2):
        shared = 0
        while shared < min(len(a), len(b)) and a[shared] == b[shared]:
            shared += 1
        heights.append(depth + 1 - shared)
    return np.array(heights, float)


def test_agreement_with_a_known_tree():
    codes, paths = nested()
    paths[0] = paths[0][:1]  # one path is shorter
    paths = [("life", *path) for path in paths]  # and all have a common root
    tree = taxonomy(codes, 64)
    found = tree_agreement(tree, paths, n_permutations=99)
    known = known_distances([path[1:] for path in paths])
    expected = np.corrcoef(tree.cophenetic, known)[0, 1]
    assert found.cophenetic.value == pytest.approx(expected)
    expected = np.corrcoef(tree.distances, known)[0, 1]
    assert found.distances.value == pytest.approx(expected)
    orders = [path[1] for path in paths]
    assert found.purity[0].purity.value == purity(tree, orders)
    assert (found.purity[0].n_groups, found.purity[0].n_classes) == (4, 48)
    families = ["".join(path[1:]) for path in paths]
    assert found.purity[1].purity.value == purity(tree, families)
    assert (found.purity[1].n_groups, found.purity[1].n_classes) == (12, 47)
    for figure in (found.cophenetic, found.distances, found.purity[0].purity):
        assert figure.value > 0.7
        assert figure.p_value == 0.01
    assert abs(found.cophenetic.chance) < 0.05


def test_shuffled_paths_agree_by_chance_only():
    codes, paths = nested()
    tree, rng, p_values = taxonomy(codes, 64), np.random.default_rng(0), []
    for _ in range(60):
        order = rng.permutation(len(paths))
        found = tree_agreement(tree, [paths[i] for i in order], n_permutations=39)
        p_values.append([found.cophenetic.p_value, found.purity[0].purity.p_value])
    assert np.mean(p_values, axis=0) == pytest.approx([0.5, 0.5], abs=0.15)


def test_agreement_is_reproducible():
    codes, paths = nested(2, 2, 3)
    tree = taxonomy(codes, 64)
    first = tree_agreement(tree, paths, n_permutations=9)
    assert first == tree_agreement(tree, paths, n_permutations=9)


def test_a_thousand_classes():
    codes, paths = nested(20, 10, 5)
    tree = taxonomy(codes, 64)
    found = tree_agreement(tree, paths, n_permutations=99)
    assert found.purity[1].n_groups == 200
    assert found.purity[1].purity.p_value == 0.01


def test_mistakes_in_classes():
    codes = random_codes(5, 8)
    with pytest.raises(ArgumentError, match="of 2 to 5000 classes, got 1"):
        taxonomy(codes[:1], 8)
    with pytest.raises(ArgumentError, match="at least one code, got none"):
        taxonomy(codes[:0], 8)
    with pytest.raises(ArgumentError, match="of 2 to 5000 classes, got 5001"):
        taxonomy(np.zeros((5001, 1), np.uint8), 8)
    with pytest.raises(ArgumentError, match="a name for each of 5 classes, got 2"):
        taxonomy(codes, 8, ["a", "b"])
    with pytest.raises(CodeError, match="beyond their 3"):
        taxonomy(codes, 3)


def test_mistakes_in_known_trees():
    tree = taxonomy(random_codes(4, 8), 8)
    cases = [
        ([["a"]] * 3, "a path for each of 4 classes, got 3"),
        (["a", "a", "b", "b"], "a tuple of names, got the text 'a'"),
        ([["a"]] * 4, "all classes into the same groups"),
        ([[]] * 4, "all classes into the same groups"),
        ([["a"], ["b"], ["c"], ["d"]], "no two classes share a group"),
    ]
    for paths, message in cases:
        with pytest.raises(ArgumentError, match=message):
            tree_agreement(tree, paths)
    paths = [["a"], ["a"], ["b"], ["b"]]
    with pytest.raises(ArgumentError, match="n_permutations must be at least 1"):
        tree_agreement(tree, paths, n_permutations=0)


def test_equal_distances_say_nothing_of_a_tree():
    bits = np.array([[0, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 1], [0, 1, 1, 0]]) > 0
    paths = [("I", "a"), ("I", "b"), ("II", "c"), ("II", "d")]
    with np.errstate(invalid="ignore"):
        found = tree_agreement(taxonomy(pack(bits), 4), paths, n_permutations=99)
    assert np.isnan(found.cophenetic.value)
    assert np.isnan(found.cophenetic.p_value)
