"""Names that are to hold for other classes than those they come from."""

from math import erfc, log, sqrt

import numpy as np
import pytest
from scipy.stats import t as student

from fewbits.analysis.names import propose_names
from fewbits.codes import pack
from fewbits.errors import ArgumentError

EACH = 30  # items of a class


def reference(texts, side, groups, word, prior=0.1):
    """Return z and the p value of a word, item by item as the documentation says."""
    documents = [set(text.split()) for text in texts]
    m = np.array([len(document) for document in documents])
    y = np.array([word in document for document in documents])
    a, a0 = prior * y.sum(), prior * m.sum()
    pooled = y.sum() / m.sum()
    odds, items, moved, scored, shares = [], 0.0, 0.0, 0.0, []
    for value, sign in ((0, -1), (1, 1)):
        on = side == value
        n = m[on].sum() + a0
        p = (y[on].sum() + a) / n
        odds.append(log(p / (1 - p)))
        items += 1 / (y[on].sum() + a)
        moved = moved + sign * on * (y - p * m) / (n * p * (1 - p))
        scored = scored + sign * on * (y - pooled * m) / m[on].sum()
        shares.append(y[on].sum() / m[on].sum())
    known = np.unique(groups[m > 0])
    k = len(known)

    def spread(values):
        return k / (k - 1) * sum(values[groups == g].sum() ** 2 for g in known)

    z = (odds[1] - odds[0]) / sqrt(max(items, spread(moved)))
    score = abs(shares[1] - shares[0]) / sqrt(spread(scored))
    by_chance = erfc(score / sqrt(2)) > 0.001
    return z, 1.0 if by_chance else 2 * student.sf(abs(z), k - 1)


@pytest.mark.parametrize("seed", range(20))
def test_z_and_p_follow_the_formula(seed):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 40, 300)
    leaning = rng.random((41, 5))
    leaning[:, 0] = np.where(leaning[:, 0] < 0.5, 0.1, 0.9)
    leaning[:, 1] = 1 - leaning[:, 0]
    side = (rng.random(300) < leaning[groups, 0]).astype(int)
    texts = [
        " ".join(w for w, p in zip("pqrs", row, strict=True) if rng.random() < p)
        for row in leaning[groups, 1:]
    ]
    texts[:3] = ["", "", ""]
    groups[:3] = 40  # a group without words
    options = {"n_words": 9, "min_items": 1, "significance": 0.999, "min_share": 0}
    found = propose_names(texts, pack(side[:, None]), 1, groups=groups, **options)
    assert found.n_groups == len(np.unique(groups[np.array(texts) != ""]))
    proposed = {}
    for sign, words in zip((-1, 1), found.bits[0], strict=True):
        proposed |= {word.word: (sign * word.z, word.p_value) for word in words}
    assert "p" in proposed
    for word in "pqrs":
        z, p = reference(texts, side, groups, word)
        expected = z, min(1, p * found.n_tests)
        assert proposed.get(word, (z, 1)) == pytest.approx(expected)


def chance(rng, n_classes, n_carriers, flips=0.0):
    """Return codes that are random by class, and words that are, too."""
    classes = np.repeat(np.arange(n_classes), EACH)
    bits = rng.integers(0, 2, (n_classes, 16))[classes]
    carriers = np.isin(classes, rng.permutation(n_classes)[:n_carriers])
    texts = ["animal" if carries else "tool" for carries in carriers]
    return classes, texts, bits ^ (rng.random(bits.shape) < flips)


def named_sides(n_classes, n_carriers, *, by_class, flips=0.0):
    """Return the share of sides that get a name, in 20 repeats."""
    named = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        classes, texts, bits = chance(rng, n_classes, n_carriers, flips)
        groups = classes if by_class else None
        found = propose_names(texts, pack(bits), 16, groups=groups)
        named += sum(bool(side) for both in found.bits.values() for side in both)
    return named / (20 * 32)


def test_what_classes_share_by_chance_is_no_name():
    assert named_sides(20, 10, by_class=False) > 0.5
    assert named_sides(20, 10, by_class=True) <= 0.02


@pytest.mark.parametrize(("n_classes", "n_carriers"), [(20, 3), (20, 5), (50, 8)])
def test_few_classes_on_the_same_side_by_chance_are_no_name(n_classes, n_carriers):
    assert named_sides(n_classes, n_carriers, by_class=True, flips=0.1) <= 0.02


def test_what_classes_really_share_is_named():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        classes, texts, bits = chance(rng, 20, 10, flips=0.1)
        animal = np.array(texts) == "animal"
        bits[:, 3] = animal ^ (rng.random(len(animal)) < 0.1)
        found = propose_names(texts, pack(bits), 16, groups=classes)
        assert found.bits[3].names == ("tool", "animal")


def test_groups_of_one_item_are_items():
    """Robust variances of independent items are about those of the formula."""
    rng = np.random.default_rng(0)
    side = np.arange(4000) % 2
    texts = [
        "x" if rng.random() < 0.4 + 0.1 * s else rng.choice(list("abcdef"))
        for s in side
    ]
    codes = pack(side[:, None])
    alone = propose_names(texts, codes, 1).bits[0].ones[0]
    robust = propose_names(texts, codes, 1, groups=np.arange(4000)).bits[0].ones[0]
    assert robust.word == alone.word == "x"
    assert 0.7 * alone.z < robust.z <= alone.z


def test_mistakes():
    side = np.arange(40) % 2
    codes, texts = pack(side[:, None]), ["a"] * 20 + ["b"] * 20
    with pytest.raises(ArgumentError, match="one label for each of 40 items"):
        propose_names(texts, codes, 1, groups=[1, 2, 3])
    with pytest.raises(ArgumentError, match=r"at least 3 groups .* with words, got 2"):
        propose_names(texts, codes, 1, groups=side)
    texts[2::3] = [None] * len(texts[2::3])
    with pytest.raises(ArgumentError, match=r"at least 3 groups .* with words, got 2"):
        propose_names(texts, codes, 1, groups=np.arange(40) % 3)
    with pytest.raises(ArgumentError, match=r"at least 3 groups .* with words, got 2"):
        propose_names([""] * 40, codes, 1, groups=side)
    assert propose_names([""] * 40, codes, 1, groups=np.arange(40)).n_words == 0
