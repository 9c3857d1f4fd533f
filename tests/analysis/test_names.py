"""Log-odds against the formula written out, and names that make sense."""

from math import erfc, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from fewbits.analysis.names import name_bits, propose_names, tokenize
from fewbits.codes import pack
from fewbits.errors import ArgumentError


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Type-2 Diabetes, car_side!", {"type-2", "diabetes", "car", "side"}),
        ("the patient's the", {"the", "patient's"}),
        ("Größe 7 – ÉTÉ", {"größe", "7", "été"}),
        ("--- ''", set()),
        ("", set()),
        (None, set()),
        (["palm tree", "Sea"], {"palm tree", "Sea"}),
    ],
)
def test_tokens(text, words):
    assert tokenize(text) == words


@pytest.mark.parametrize("text", [3, 2.5, ["a", None], [1]])
def test_what_is_no_text(text):
    with pytest.raises(ArgumentError, match="texts must be strings"):
        tokenize(text)


def reference(texts, side, prior, word):
    """Monroe et al.: z of a word, positive where side 1 has more of it."""
    documents = [set(text.split()) for text in texts]
    words = set().union(*documents)

    def count(value, wanted):
        return sum(
            wanted in document
            for document, s in zip(documents, side, strict=True)
            if s == value
        )

    total = {w: count(0, w) + count(1, w) for w in words}
    a, a0 = prior * total[word], prior * sum(total.values())
    odds, variance = [], 0.0
    for value in (0, 1):
        y, n = count(value, word), sum(count(value, w) for w in words)
        odds.append(log((y + a) / (n + a0 - y - a)))
        variance += 1 / (y + a)
    return (odds[1] - odds[0]) / sqrt(variance)


@given(seed=st.integers(0, 2**32))
def test_z_and_p_follow_the_formula(seed):
    rng = np.random.default_rng(seed)
    side = rng.integers(0, 2, 60)
    shares = [0.1, 0.3, 0.6, 0.9]
    texts = [
        " ".join(w for w, p in zip("pqrs", shares, strict=True) if rng.random() < p)
        + (" t" if s else " u" * int(rng.random() < 0.5))
        for s in side
    ]
    found = propose_names(
        texts,
        pack(side[:, None]),
        1,
        n_words=9,
        min_items=1,
        significance=0.999,
        min_share=0,
    )
    proposed = {
        word.word: (sign, word)
        for sign, words in zip((-1, 1), found.bits[0], strict=True)
        for word in words
    }
    assert found.n_words == len({w for text in texts for w in text.split()})
    for word, (sign, evidence) in proposed.items():
        z = reference(texts, side, 0.1, word)
        assert sign * evidence.z == pytest.approx(z)
        assert evidence.p_value == pytest.approx(
            min(1, erfc(abs(z) / sqrt(2)) * found.n_words)
        )
        carriers = np.array([word in text.split() for text in texts])
        assert evidence.share == pytest.approx(carriers[side == (sign > 0)].mean())
        assert evidence.other_share == pytest.approx(
            carriers[side != (sign > 0)].mean()
        )
    assert "t" in proposed


def test_bits_far_apart_get_their_own_names():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (400, 40))
    texts = [
        f"{'round' if row[3] else 'boxy'} {'sea' if row[37] else 'land'} of the thing"
        for row in bits
    ]
    found = propose_names(texts, pack(bits), 40)
    assert found.bits[3].names == ("boxy", "round")
    assert found.bits[37].names == ("land", "sea")
    some = propose_names(texts, pack(bits), 40, bits=[37, 3])
    assert list(some.bits) == [37, 3]
    assert some.bits[37].names == ("land", "sea")
    for few, many in zip(some.bits[3][0], found.bits[3][0], strict=True):
        assert few.p_value == pytest.approx(many.p_value * 2 / 40)  # tests


def test_chance_is_not_named():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcdefghij"), 3)) for _ in range(500)]
    codes = rng.integers(0, 256, (500, 8), np.uint8)
    found = propose_names(texts, codes, 64)
    assert {proposal.names for proposal in found.bits.values()} == {("", "")}


def test_function_words_are_ignored():
    side = np.arange(100) % 2
    texts = ["up with it" if s else "down without it" for s in side]
    codes = pack(side[:, None])
    assert propose_names(texts, codes, 1).bits[0].names == ("down", "up")


@pytest.mark.parametrize(
    ("texts", "side"),
    [
        (["x y"] * 20, [1] * 20),
        (["x"] * 20, [0, 1] * 10),
        ([None] * 20, [0, 1] * 10),
        ([""] * 20, [0, 1] * 10),
    ],
)
def test_nothing_to_tell_apart(texts, side):
    found = propose_names(texts, pack(np.array(side)[:, None]), 1)
    assert found.bits[0].names == ("", "")


def test_words_of_short_texts_are_no_names_where_fewer_items_carry_them():
    rng = np.random.default_rng(0)
    side = np.arange(2000) % 2
    texts = []
    for s in side:  # x is a larger part of the short texts of side 0
        words = [f"w{i}" for i in rng.choice(200, 12 if s else 3, replace=False)]
        texts.append(words + ["x"] * int(rng.random() < (0.36 if s else 0.3)))
    found = propose_names(texts, pack(side[:, None]), 1, n_words=9)
    assert "x" not in {word.word for word in found.bits[0].zeros}
    for proposed in found.bits[0]:
        assert all(word.share > word.other_share for word in proposed)


def test_rare_words_are_not_tested():
    side = np.arange(40) % 2
    texts = ["common", "usual"] * 20
    texts[1] += " rare"
    for min_items, n_words in ((1, 3), (2, 2), (21, 0)):
        found = propose_names(texts, pack(side[:, None]), 1, min_items=min_items)
        assert found.n_words == n_words


def test_a_word_of_few_items_names_no_side():
    rng = np.random.default_rng(0)
    side = np.arange(4000) % 2
    texts = [
        f"thing {'seldom ' if s and rng.random() < 0.08 else ''}"
        f"{'often' if s and rng.random() < 0.12 else ''}"
        for s in side
    ]
    codes = pack(side[:, None])
    assert propose_names(texts, codes, 1).bits[0].names == ("", "often")
    everything = propose_names(texts, codes, 1, min_share=0).bits[0]
    assert everything.names == ("", "often, seldom")


def test_names_by_hand_go_first():
    side = np.arange(100) % 2
    found = propose_names(["up" if s else "down" for s in side], pack(side[:, None]), 1)
    assert name_bits(found) == {0: ("down", "up")}
    assert name_bits(found, {0: (None, "aloft"), 9: ("a", None)}) == {
        0: ("down", "aloft"),
        9: ("a", ""),
    }
    assert name_bits() == {}


def test_mistakes():
    codes = np.zeros((2, 1), np.uint8)
    with pytest.raises(ArgumentError, match="one text for each of 2 codes"):
        propose_names(["a"], codes, 8)
    with pytest.raises(ArgumentError, match="one text for each of 2 codes"):
        propose_names("ab", codes, 8)
    with pytest.raises(ArgumentError, match="no bit 8"):
        propose_names(["a", "b"], codes, 8, bits=[8])
    with pytest.raises(ArgumentError, match="significance must be a number above 0"):
        propose_names(["a", "b"], codes, 8, significance=5)
    with pytest.raises(ArgumentError, match=r"min_share must lie in \[0, 1\), got 1"):
        propose_names(["a", "b"], codes, 8, min_share=1)
    with pytest.raises(ArgumentError, match="bit 3 needs two names, got 'ab'"):
        name_bits(by_hand={3: "ab"})
    with pytest.raises(ArgumentError, match="names of bit 3 must be texts"):
        name_bits(by_hand={3: ("a", 1)})


EACH = 30  # items of a class


def reference_of_groups(texts, side, groups, word, prior=0.1):
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
def test_z_and_p_of_groups_follow_the_formula(seed):
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
        z, p = reference_of_groups(texts, side, groups, word)
        expected = z, min(1, p * found.n_words)
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


def test_mistakes_in_groups():
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
