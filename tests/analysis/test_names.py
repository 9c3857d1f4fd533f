"""Log-odds against the formula written out, and names that make sense."""

from math import erfc, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.analysis.names import FUNCTION_WORDS, name_bits, propose_names, tokenize
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


@given(seed=st.integers(0, 2**32), prior=st.sampled_from([0.05, 0.1, 1.0]))
def test_z_and_p_follow_the_formula(seed, prior):
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
        prior=prior,
    )
    proposed = {
        word.word: (sign, word)
        for sign, words in zip((-1, 1), found.bits[0], strict=True)
        for word in words
    }
    assert (
        found.n_tests
        == found.n_words
        == len({w for text in texts for w in text.split()})
    )
    for word, (sign, evidence) in proposed.items():
        z = reference(texts, side, prior, word)
        assert sign * evidence.z == pytest.approx(z)
        assert evidence.p_value == pytest.approx(
            min(1, erfc(abs(z) / sqrt(2)) * found.n_tests)
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
    assert found.n_tests == 5 * 40
    some = propose_names(texts, pack(bits), 40, bits=[37, 3])
    assert list(some.bits) == [37, 3]
    assert some.bits[37].names == ("land", "sea")
    assert some.n_tests == 5 * 2


def test_chance_is_not_named():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcdefghij"), 3)) for _ in range(500)]
    codes = rng.integers(0, 256, (500, 8), np.uint8)
    found = propose_names(texts, codes, 64)
    assert {proposal.names for proposal in found.bits.values()} == {("", "")}


def test_function_words_are_ignored_unless_told_otherwise():
    side = np.arange(100) % 2
    texts = ["up with it" if s else "down without it" for s in side]
    codes = pack(side[:, None])
    assert {"with", "without"} <= FUNCTION_WORDS
    assert propose_names(texts, codes, 1).bits[0].names == ("down", "up")
    everything = propose_names(texts, codes, 1, ignore=())
    assert everything.bits[0].names == ("down, without", "up, with")


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
    with pytest.raises(ArgumentError, match="significance must lie between 0 and 1"):
        propose_names(["a", "b"], codes, 8, significance=5)
    with pytest.raises(ArgumentError, match=r"min_share must lie in \[0, 1\), got 1"):
        propose_names(["a", "b"], codes, 8, min_share=1)
    with pytest.raises(ArgumentError, match="prior must be above 0"):
        propose_names(["a", "b"], codes, 8, prior=0)
    with pytest.raises(ArgumentError, match="bit 3 needs two names, got 'ab'"):
        name_bits(by_hand={3: "ab"})
    with pytest.raises(ArgumentError, match="names of bit 3 must be texts"):
        name_bits(by_hand={3: ("a", 1)})
