"""What is tried for a target, and what is learnt together."""

import pytest

from fewbits.codes import MAX_BITS
from fewbits.errors import ArgumentError
from fewbits.training._methods import SUPERVISED
from fewbits.training.tuning import Configuration, Target, _candidates
from fewbits.training.tuning._candidates import (
    beyond_axes,
    candidates,
    default_methods,
    lengths,
    stage,
    too_long,
    with_corrections,
    without_torch,
)
from fewbits.training.tuning._learning import grouped

POWERS = tuple(2**i for i in range(4, 17))


@pytest.mark.parametrize(
    ("max_bytes", "n_features", "longest"),
    [
        (1, 64, 8),
        (12, 64, 96),
        (128, 4096, 1024),
        (512, 4096, 4096),
        (1024, 4096, 8192),
        (3000, 4096, 24_000),
        (512, 64, 1024),  # as long as the vector in half precision
        (100_000, 25_600, MAX_BITS),
        (None, 8, 128),
        (None, 256, 1024),
        (None, 2048, 8192),
        (None, 25_600, MAX_BITS),
    ],
)
def test_lengths_reach_what_the_target_allows(max_bytes, n_features, longest):
    target = Target(at_least=0.9, max_bytes=max_bytes)
    below = tuple(n for n in POWERS if n < longest)
    assert lengths(target, n_features) == (*below, longest)


def test_lengths_that_are_asked_for():
    assert lengths(Target(at_least=0.9), 64, [8192, 16]) == (16, 8192)
    in_memory = Target(max_memory_bytes=4, max_bytes=100)
    assert lengths(in_memory, 64) == (16, 32)
    assert too_long(in_memory, [32, 64]) == (64,)
    assert with_corrections(in_memory, 64) == (16,)
    within = Target(max_bytes=4)
    assert lengths(within, 64, [64, 32, 16, 128]) == (16, 32)
    assert too_long(within, [64, 32, 16, 128]) == (64, 128)
    with pytest.raises(ArgumentError, match="64 bits take more than 4 bytes"):
        lengths(within, 64, [64])


def test_lengths_that_there_are_no_axes_for():
    assert beyond_axes(["pcah", "lsh"], [128, 16, 65], 64) == (65, 128)
    assert beyond_axes(["lsh"], [128], 64) == ()


def test_cheap_and_sparse_variants_are_among_the_defaults():
    methods = default_methods(Target(max_bytes=8), of_any_length=False)
    found = {each.described() for each in candidates(methods, [64], 100, 0)}
    assert found > {
        "bp, 64 bits, random",
        "cbe, 64 bits, random",
        "fast-neighbours, 64 bits, 1 round of blocks",
        "fast-neighbours, 64 bits, diagonals",
        "neighbours, 64 bits",
        "neighbours, 64 bits, a loose frame",
        "neighbours, 64 bits, a hidden layer of 512",
        "neighbours, 64 bits, 10% of the weights",
        "sp, 64 bits, 3% of the weights",
    }


def test_a_method_of_one_length_is_out_where_others_are_asked_for():
    usual, without = (
        default_methods(Target(max_bytes=8), of_any_length=asked)
        for asked in (False, True)
    )
    assert set(usual) - set(without) == {"threshold"}


def test_long_codes_are_last_and_nothing_waits_for_them():
    made = candidates(["lsh", "neighbours"], [64, 1024, 4096], 5000, 0)
    bits = [each.n_bits for each in made]
    assert bits.index(4096) > max(i for i, n in enumerate(bits) if n == 1024)
    together = [
        [each.n_bits for each in group]
        for group in grouped(made, nested_up_to=1024)
        if group[0].method == "neighbours" and not group[0].parameters
    ]
    assert together == [[64, 1024], [4096]]


def test_defaults_come_first_and_where_quality_counts_the_longest():
    names = ["cbe", "sp"]
    made = candidates(names, [16, 64], 100, 0)
    n = len(names) * 2
    assert not any(each.parameters for each in made[:n])
    assert all(each.parameters for each in made[n:])
    made = candidates(names, [16, 64], 100, 0, objective="quality")
    assert [each.n_bits for each in made] == [64] * (len(made) // 2) + [16] * (
        len(made) // 2
    )
    assert [each.described() for each in made[:2]] == [
        "cbe, 64 bits",
        "sp, 64 bits",
    ]


def test_anchors_of_every_length_come_first_and_the_cheap_ones_before_the_others():
    methods = default_methods(Target(max_bytes=8), of_any_length=False)
    for objective in ("quality", "bytes", "encode time"):
        made = candidates(methods, [16, 32, 64], 100, 0, objective=objective)
        stages = [stage(each) for each in made]
        assert stages == sorted(stages)
        assert (stages.count(0), stages.count(1)) == (3 * 3, 2 * 3)
        if objective == "quality":
            assert {each.n_bits for each in made[:3]} == {64}
            assert [each.described() for each in made[9:12]] == [
                "additive, 64 bits",
                "neighbours, 64 bits",
                "additive, 32 bits",
            ]


def test_where_bytes_count_a_middle_length_comes_first():
    lengths = [16, 32, 64, 128, 256, 4096]
    made = candidates(["sp", "itq"], lengths, 100, 0, objective="bytes")
    usual = [(e.method, e.n_bits) for e in made if not e.parameters]
    assert [n for name, n in usual if name == "sp"] == [64, 128, 32, 256, 16, 4096]
    assert usual[:2] == [("itq", 64), ("itq", 128)]  # before anything else
    assert [each.n_bits for each in made[-3:]] == [4096] * 3
    made = candidates(["sh"], [4096, 8192], 100, 0, objective="bytes")
    assert [e.n_bits for e in made] == [4096, 8192]


def test_prefixes_are_learnt_together_whatever_their_length():
    made = [Configuration("hadamard", n) for n in (64, 4096)]
    assert grouped(made, nested_up_to=0) == grouped(made, nested_up_to=1024) == [made]


@pytest.mark.parametrize("torch", [True, False])
def test_what_learns_from_labels_is_tried_where_they_count(torch, monkeypatch):
    monkeypatch.setattr(_candidates, "has_torch", lambda: torch)
    recall, accuracy = (Target(name, max_bytes=8) for name in ("recall", "accuracy"))
    deep = {"csq", "dch", "llc"}
    by_recall, by_labels = (
        set(default_methods(target, of_any_length=False))
        for target in (recall, accuracy)
    )
    assert not by_recall & SUPERVISED
    assert by_labels - by_recall == {"cca-itq", "dbc"} | (deep if torch else set())
    assert without_torch(recall) == ()
    assert set(without_torch(accuracy)) == (set() if torch else deep)


def test_deep_codes_come_with_centres_and_a_hidden_layer():
    found = {each.described() for each in candidates(["csq"], [64], 100, 0)}
    assert found == {
        "csq, 64 bits",
        "csq, 64 bits, predictable centres",
        "csq, 64 bits, predictable centres and a hidden layer of 1024",
    }


def test_what_is_known_to_be_good_comes_before_anything_else():
    methods = default_methods(Target(max_bytes=8), of_any_length=False)
    for objective in ("quality", "bytes", "encode time"):
        made = candidates(methods, [64], 100, 0, objective=objective, corrected=[48])
        assert [each.described() for each in made[:5]] == [
            "itq, 64 bits, a random rotation",
            "itq, 64 bits",
            "additive, 48 bits, two bytes of corrections",
            "additive, 64 bits",
            "neighbours, 64 bits",
        ]


def test_corrections_count_as_bytes():
    within, open_ended = Target(max_bytes=12), Target(at_least=0.9)
    assert with_corrections(within, 64) == (16, 32, 64, 80)
    assert with_corrections(within, 64, [64, 96]) == (64,)
    assert with_corrections(within, 64, [96]) == ()
    assert with_corrections(Target(max_bytes=2), 64) == ()
    assert with_corrections(open_ended, 64, [96]) == (96,)
    assert with_corrections(Target("map", max_bytes=12), 64) == ()
