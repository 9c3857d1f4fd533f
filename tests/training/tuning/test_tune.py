"""Tuning on real digits: what it chooses, what it keeps, and what it is worth."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from fewbits.errors import ArgumentError
from fewbits.evaluation import exact_neighbours, search_recall
from fewbits.index import FlatIndex
from fewbits.inputs import Input
from fewbits.learners import LSH
from fewbits.learners._core._iterative import report
from fewbits.learners._linalg import _orthogonal
from fewbits.learners.fitting import on_progress
from fewbits.training._methods import make_learner
from fewbits.training.tuning import (
    Configuration,
    Target,
    _clock,
    _finals,
    _measuring,
    _race,
    _trial,
    _tune,
    tune,
)
from fewbits.training.tuning._candidates import default_methods
from fewbits.training.tuning._learning import Learnt, learn

X, y = load_digits(return_X_y=True)
X = X.astype(np.float32)
FEW = {"methods": ["lsh", "hadamard", "pcah"], "n_bits": [16, 32]}


def digits(rows=slice(None), labels=y):
    named = None if labels is None else labels[rows].astype(str)
    return Input("vectors", X[rows], named, "digits")


def measured_bytes(found):
    return [each.bytes_per_item for each in found.frontier]


def test_quality_within_bytes():
    found = tune(digits(), Target(max_bytes=4), **FEW)
    assert found.reached
    assert found.best.bytes_per_item <= 4
    affordable = [each for each in found.measured if each.bytes_per_item <= 4]
    best = max(each.quality for each in affordable)
    assert found.best.quality == pytest.approx(best, abs=1e-3)


def test_bytes_for_a_quality():
    target = Target(at_least=0.5)
    found = tune(digits(), target, methods=["hadamard"], n_bits=[16, 64])
    assert found.reached
    fewer = [e for e in found.measured if e.bytes_per_item < found.best.bytes_per_item]
    assert not any(target.meets(each) for each in fewer)
    # Lengths between those asked for are tried as well.
    assert found.configuration.n_bits not in (16, 64)


def test_one_method_and_one_length():
    found = tune(digits(), Target(max_bytes=4), methods="lsh", n_bits=16)
    tried = {(e.configuration.method, e.configuration.n_bits) for e in found.measured}
    assert tried == {("lsh", 16)}


def test_bits_that_are_the_same_for_all_items_are_told():
    """Some pixels are white in all of the digits."""
    found = tune(digits(), Target(max_bytes=8), methods=["threshold"])
    white = int((X[0] == X).all(axis=0).sum())
    assert found.reported.n_constant_bits >= white > 0
    varied = tune(digits(), Target(max_bytes=8), methods="lsh", n_bits=16)
    assert varied.reported.n_constant_bits == 0


def test_what_takes_too_long_to_encode_is_no_answer():
    found = tune(digits(), Target(max_encode_us=1e-6), **FEW)
    assert not found.reached


@pytest.fixture
def encoding_takes(monkeypatch):
    """Return a function that sets microseconds by length, measured once or in turn."""

    def set_times(once, in_turn):
        def timer(times):
            return lambda encoders, _: [1e-6 * times[each.n_bits] for each in encoders]

        monkeypatch.setattr(_trial, "seconds_alone", timer(once))
        monkeypatch.setattr(_finals, "seconds_alone", timer(in_turn))

    return set_times


FAST = {"methods": ["lsh"], "n_bits": [16, 24, 32]}


def test_a_delay_while_times_are_taken_again_costs_nothing(encoding_takes, tmp_path):
    encoding_takes(once={16: 5, 24: 6, 32: 9}, in_turn={16: 15, 24: 16, 32: 12})
    target = Target(max_bytes=4, max_encode_us=10)
    path = tmp_path / "m.jsonl"
    for _ in range(2):  # measured, and known from the journal
        found = tune(digits(), target, **FAST, journal=path)
        assert found.configuration.n_bits == 32
        assert found.best.encode_us == pytest.approx(9)
        assert found.reached
        assert found.confirmed
    assert '"encode_us": 12' not in path.read_text()


def test_an_unlucky_time_is_taken_again(encoding_takes):
    encoding_takes(once={16: 5, 24: 6, 32: 12}, in_turn={16: 5, 24: 6, 32: 9})
    found = tune(digits(), Target(max_bytes=4, max_encode_us=10), **FAST)
    assert found.configuration.n_bits == 32
    assert found.reached
    # The report is measured once more, and says 12.
    assert found.quality_confirmed
    assert not found.time_confirmed
    assert not found.confirmed


def test_what_is_left_is_timed_where_all_finalists_are_too_slow(
    encoding_takes, monkeypatch
):
    monkeypatch.setattr(_finals, "_FINALISTS", 1)
    encoding_takes(once={16: 5, 24: 11, 32: 11.5}, in_turn={16: 5, 24: 11, 32: 12})
    found = tune(digits(), Target(max_bytes=4, max_encode_us=10), **FAST)
    assert (found.configuration.n_bits, found.reached) == (16, True)


def test_nothing_is_timed_again_where_nothing_comes_near(encoding_takes):
    encoding_takes(once={16: 5, 24: 6, 32: 4}, in_turn={})
    found = tune(digits(), Target(max_bytes=4, max_encode_us=1), **FAST)
    assert (found.configuration.n_bits, found.reached) == (32, False)


def test_about_as_fast_is_as_fast(encoding_takes):
    """A choice by time does not sacrifice quality to noise of the measurements."""
    encoding_takes(
        once={16: 5.1, 24: 5.0, 32: 5.2}, in_turn={16: 5.0, 24: 5.2, 32: 5.3}
    )
    target = Target(at_least=0.1, max_bytes=4)
    found = tune(digits(), target, **FAST)
    assert found.configuration.n_bits == 32
    assert found.best in found.frontier
    encoding_takes(once={16: 5, 24: 6, 32: 12}, in_turn={16: 5, 24: 6, 32: 12})
    assert tune(digits(), target, **FAST).best.encode_us < 12


def test_times_are_left_alone_where_they_do_not_count(encoding_takes):
    encoding_takes(once={16: 5, 24: 6, 32: 9}, in_turn={})
    assert tune(digits(), Target(max_bytes=4), **FAST).best.encode_us == 9


def test_a_choice_is_made_when_time_is_up(encoding_takes):
    encoding_takes(once={16: 5, 24: 6, 32: 11}, in_turn={16: 5, 24: 6, 32: 9})
    target = Target(max_bytes=4, max_encode_us=10)
    found = tune(digits(), target, **FAST, minutes=1e-9)
    assert found.configuration.n_bits == 24


@pytest.mark.parametrize(("encode_us", "kept"), [(9.4, True), (9.6, False)])
def test_times_stay_below_their_bound_by_a_margin(encoding_takes, encode_us, kept):
    encoding_takes(once={16: encode_us}, in_turn={16: encode_us})
    options = {"methods": ["lsh"], "n_bits": [16]}
    assert tune(digits(), Target(max_encode_us=10), **options).reached == kept


@pytest.mark.parametrize("rows", [0, -5])
def test_some_rows_must_take_part(rows):
    with pytest.raises(ArgumentError, match="rows must be at least 1"):
        tune(digits(), Target(max_bytes=4), **FEW, max_rows=rows)


def test_what_cannot_be_reached():
    found = tune(digits(), Target(at_least=0.999, max_bytes=2), **FEW)
    assert not found.reached
    assert found.best.bytes_per_item == 2


def test_the_frontier_rises():
    found = tune(digits(), Target(max_bytes=4), **FEW)
    assert measured_bytes(found) == sorted(set(measured_bytes(found)))
    qualities = [each.quality for each in found.frontier]
    assert qualities == sorted(qualities)


def test_labels_find_what_learns_from_them():
    target = Target("accuracy", max_bytes=2)
    found = tune(digits(), target, methods=["lsh", "cca-itq"], n_bits=[16])
    assert found.configuration.method == "cca-itq"
    assert found.measure == "accuracy@10"
    by_map = tune(digits(), Target("map", max_bytes=2), methods=["lsh", "cca-itq"])
    assert by_map.configuration.method == "cca-itq"
    assert by_map.configuration.rerank is None


def test_same_answer_again():
    one, two = (tune(digits(), Target(max_bytes=4), **FEW) for _ in range(2))
    assert one.configuration == two.configuration
    assert one.reported.quality == two.reported.quality


def test_axes_are_computed_once_for_the_same_rows(monkeypatch):
    seen = []
    whole = _orthogonal._principal_axes
    monkeypatch.setattr(
        _orthogonal, "_principal_axes", lambda X: seen.append(len(X)) or whole(X)
    )
    methods = ["pcah", "itq", "sp"]
    tune(digits(), Target(max_bytes=4), methods=methods, n_bits=[16, 32])
    # Once a round, and for the fit of the choice to all rows.
    assert len(seen) == len(set(seen))


def recall(encoder, train, queries, how=None):
    index = FlatIndex(encoder.encode(train))
    codes = encoder.encode(queries)
    truth = exact_neighbours(queries, train, 10).ids
    if how is None:
        return search_recall(index.search(codes, 10).ids, truth).value
    scores = encoder.project(queries)
    found = index.search_reranked(codes, 10, scores=scores, shortlist=how)
    return search_recall(found.ids, truth).value


CHEAP = ["lsh", "hadamard", "pcah", "itq", "sp", "sh", "cbe", "bp"]
TRIED = ["hadamard", "itq", "sp"]
SEARCHES = (None, 100)  # `search` and `search --rerank`, as they are without tuning


def test_it_beats_every_cheap_default_on_rows_it_has_not_seen():
    """`research.studies.tune` has all methods; here the ones that take no minutes."""
    gains = {(method, how): [] for method in CHEAP for how in SEARCHES}
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(X))
        known, unseen = order[300:], X[order[:300]]
        source, fitted, base = digits(known), X[known[::2]], X[known[1::2]]
        found = tune(
            source,
            Target(max_bytes=4),
            methods=TRIED,
            n_bits=[32],
            random_state=seed,
        )
        chosen = found.configuration
        mine = make_learner(
            chosen.method, chosen.n_bits, chosen.random_state, chosen.parameters
        )
        tuned = recall(mine.fit(fitted).encoder_, base, unseen, chosen.shortlist)
        for method in CHEAP:
            encoder = make_learner(method, 32, seed, {}).fit(fitted).encoder_
            for how in SEARCHES:
                theirs = recall(encoder, base, unseen, how)
                gains[method, how].append(tuned - theirs)
    mean = {each: np.mean(values) for each, values in gains.items()}
    assert all(mean[method, None] > 0.01 for method in CHEAP)
    # With a shortlist that it does not have unasked, the best that was tried is a tie.
    assert all(mean[method, 100] > -0.02 for method in TRIED)
    assert all(mean[method, 100] > 0.01 for method in {*CHEAP}.difference(TRIED))


@pytest.mark.parametrize("minutes", [None, 1])
def test_what_would_not_end_in_time_is_not_begun(monkeypatch, minutes):
    """The shorter code is on the frontier, and takes an hour by the first round."""

    def slow(group, X, y):
        return [
            each._replace(seconds=3600.0 if each.configuration.n_bits == 16 else 0.1)
            for each in learn(group, X, y)
        ]

    monkeypatch.setattr(_measuring, "learn", slow)
    monkeypatch.setattr(_race, "_LEAST_ROUND", 100)
    monkeypatch.setattr(_race, "_ROWS_PER_NEIGHBOUR", 1)
    options = {"methods": ["itq"], "n_bits": [16, 32], "minutes": minutes}
    found = tune(digits(), Target(max_bytes=4), **options)
    measured = {each.configuration.n_bits for each in found.measured}
    assert measured == ({32} if minutes else {16, 32})
    assert found.n_untried == (1 if minutes else 0)


@pytest.fixture
def learning_takes(monkeypatch):
    """Return a function that sets the seconds of each fit, of random codes."""

    def set_seconds(seconds):
        begun = []

        def quick(group, X, y):
            begun.append([(each.described(), len(X)) for each in group])
            encoders = [LSH(each.n_bits, random_state=0).fit(X) for each in group]
            return [
                Learnt(each, learner.encoder_, seconds(each))
                for each, learner in zip(group, encoders, strict=True)
            ]

        monkeypatch.setattr(_measuring, "learn", quick)
        monkeypatch.setattr(_race, "_LEAST_ROUND", 100)
        monkeypatch.setattr(_race, "_ROWS_PER_NEIGHBOUR", 1)
        return begun

    return set_seconds


def test_a_code_alone_takes_as_long_as_all_that_are_learnt_with_it(
    learning_takes, monkeypatch
):
    """A third of a minute each, where three lengths share a minute."""
    # Which lengths would survive the first round is decided by rounding.
    monkeypatch.setattr(_race, "survivors", lambda latest, *_: latest)
    learning_takes(lambda _: 20.0)
    options = {"methods": ["neighbours"], "n_bits": [8, 16, 32], "minutes": 2}
    target = Target(at_least=0.01, max_bytes=4)  # lengths are nested
    found = tune(digits(), target, **options)
    assert len({each.configuration.n_bits for each in found.measured}) == 1
    assert found.n_untried >= 1


@pytest.mark.parametrize(
    ("n", "n_queries"),
    [
        (200, 25),
        (8_000, 1000),
        (100_000, 1000),
        (100_200, 1002),
        (500_000, 5000),
        (10**7, 5000),
    ],
)
def test_more_choose_where_rows_are_many(n, n_queries):
    assert _tune._n_queries(n) == n_queries


@pytest.mark.parametrize(("seconds", "goes_on"), [(0.0, True), (2.0, False)])
def test_the_best_of_what_takes_no_time_goes_on(
    learning_takes, monkeypatch, seconds, goes_on
):
    def best(latest, *_):
        return [e for e in latest if e.configuration.method == "pcah"][:1]

    monkeypatch.setattr(_race, "survivors", best)
    learning_takes(lambda each: 9.0 if each.method == "pcah" else seconds)
    options = {"methods": ["lsh", "hadamard", "pcah"], "n_bits": 32, "minutes": 1}
    found = tune(digits(), Target(max_bytes=4), **options)
    methods = {each.configuration.method for each in found.measured}
    assert methods == ({"lsh", "pcah"} if goes_on else {"pcah"})


def test_the_longest_codes_are_alone_where_quality_counts(learning_takes):
    begun = learning_takes(lambda _: 0.0)
    options = {"methods": ["neighbours"], "n_bits": [8, 16, 32]}
    tune(digits(), Target(max_bytes=4), **options)
    together = [[words for words, _ in group] for group in begun]
    assert together[0] == ["neighbours, 32 bits"]
    assert ["neighbours, 16 bits", "neighbours, 8 bits"] in together


def test_anchors_of_every_length_are_measured_before_anything_else(learning_takes):
    """Prefixes cost nothing, and do not come before them either."""
    begun = learning_takes(lambda _: 0.0)
    options = {"methods": ["pcah", "itq", "neighbours"], "n_bits": [16, 32]}
    tune(digits(), Target(max_bytes=4), **options)
    first = [words for group in begun for words, n in group if n == begun[0][0][1]]
    assert first == [
        "itq, 32 bits, a random rotation",
        "itq, 32 bits",
        "itq, 16 bits, a random rotation",
        "itq, 16 bits",
        "neighbours, 32 bits",
        "neighbours, 16 bits",
        *first[6:],
    ]
    assert first[6:8] == ["pcah, 32 bits", "pcah, 16 bits"]


@pytest.mark.parametrize(("minutes", "n_longer"), [(None, 3), (1, 0)])
def test_the_best_are_trained_longer_where_there_is_time(
    learning_takes, monkeypatch, minutes, n_longer
):
    monkeypatch.setattr(_race, "_KEPT", 1.0)
    begun = learning_takes(lambda _: 21.0)
    options = {"methods": ["lsh", "neighbours"], "n_bits": [32], "minutes": minutes}
    found = tune(digits(), Target(max_bytes=4), **options)
    longer = [words for group in begun for words, _ in group if "90" in words]
    assert len(longer) == n_longer
    assert all(words.endswith(", 90 iterations") for words in longer)
    assert (found.n_untried > 0) == (n_longer == 0)


def test_nothing_is_trained_longer_where_bytes_are_what_counts(learning_takes):
    begun = learning_takes(lambda _: 0.0)
    options = {"methods": ["neighbours"], "n_bits": [16, 32]}
    tune(digits(), Target(at_least=0.05), **options)
    assert not any("180" in words for group in begun for words, _ in group)


class Clock:
    """Time that passes only while something is learnt."""

    now = 0.0

    def monotonic(self):
        return self.now


@pytest.fixture
def iterations_take(learning_takes, monkeypatch):
    """Return a function that sets the seconds of each of 10 iterations of a fit."""

    def set_seconds(seconds):
        clock = Clock()
        monkeypatch.setattr(_clock, "time", clock)
        begun = learning_takes(lambda each: 10 * seconds(each))
        quick = _measuring.learn

        def slow(group, X, y):
            learnt = quick(group, X, y)
            for i in range(10):
                clock.now += sum(map(seconds, group))
                report("slow", i, 10, 0.0, verbose=False)
            return learnt

        monkeypatch.setattr(_measuring, "learn", slow)
        return clock, begun

    return set_seconds


ONE_ROUND = {"methods": ["lsh", "sh", "sp"], "n_bits": [32], "minutes": 1}


def test_a_fit_is_ended_when_the_time_is_up(iterations_take, monkeypatch):
    clock, begun = iterations_take(lambda each: 1.0 if each.method == "lsh" else 60.0)
    monkeypatch.setattr(_race, "_LEAST_ROUND", 2000)
    found = tune(digits(), Target(max_bytes=4), **ONE_ROUND)
    assert clock.now == 10 + 60  # and not 600, of the first that takes long
    assert [group[0][0] for group in begun] == ["lsh, 32 bits", "sh, 32 bits"]
    assert {each.configuration.method for each in found.measured} == {"lsh"}
    assert found.n_untried == 4  # with variants


def test_what_is_nearly_learnt_has_a_tenth_of_the_time_more(
    iterations_take, monkeypatch
):
    clock, _ = iterations_take(lambda each: 1.0 if each.method == "lsh" else 5.5)
    monkeypatch.setattr(_race, "_LEAST_ROUND", 2000)
    found = tune(digits(), Target(max_bytes=4), **ONE_ROUND)
    assert clock.now == 10 + 55
    assert {e.configuration.method for e in found.measured} == {"lsh", "sh"}


def test_what_takes_up_a_round_leaves_time_for_the_next(iterations_take):
    _, begun = iterations_take(lambda each: 0.0 if each.method == "lsh" else 6.0)
    tune(digits(), Target(max_bytes=4), **ONE_ROUND)
    n_first = begun[0][0][1]
    assert [words for ((words, n),) in begun if n == n_first] == [
        "lsh, 32 bits",
        "sh, 32 bits",
    ]
    last = [words for ((words, n),) in begun if n > n_first]
    assert last == ["lsh, 32 bits", "sp, 32 bits"]  # what is ended stays so


def test_time_left_over_goes_to_what_the_round_had_none_for(
    iterations_take, monkeypatch
):
    """Nothing can be trained thrice as long in the rest of the time."""
    clock, begun = iterations_take(
        lambda each: 2.0 if each.method == "neighbours" else 0.4
    )
    monkeypatch.setattr(_race, "_LEAST_ROUND", 2000)
    options = {**ONE_ROUND, "methods": ["sh", "sp", "neighbours"]}
    found = tune(digits(), Target(max_bytes=4), **options)
    assert [group[0][0] for group in begun] == [
        "neighbours, 32 bits",
        "sh, 32 bits",
        "sp, 32 bits",
        "sp, 32 bits, 3% of the weights",  # up to here half of the time
        "sp, 32 bits, 30% of the weights",
        "neighbours, 32 bits, a loose frame",
    ]
    assert len({each.configuration.learner.key for each in found.measured}) == 6
    # Variants take as long as defaults of their method: two, and a longer one.
    assert found.n_untried == 3
    assert clock.now == pytest.approx(56)


def test_time_left_over_goes_to_what_earlier_rounds_had_none_for(iterations_take):
    seconds = {"lsh": 0.0, "sh": 0.3, "bp": 1.2, "cbe": 1.2, "sp": 0.5}
    _, begun = iterations_take(lambda each: seconds[each.method])
    options = {**ONE_ROUND, "methods": list(seconds)}
    found = tune(digits(), Target(max_bytes=4), **options)
    n_first = begun[0][0][1]
    first = [words for ((words, n),) in begun if n == n_first]
    assert len(first) == 5  # the defaults
    last = [words for ((words, n),) in begun if n > n_first]
    assert last == ["lsh, 32 bits", "sh, 32 bits", "sp, 32 bits, 3% of the weights"]
    assert "density" in found.measured[-1].configuration.parameters
    assert found.n_untried == 3  # other variants


def test_what_looks_best_is_learnt_to_its_end(iterations_take):
    clock, begun = iterations_take(lambda _: 60.0)
    found = tune(digits(), Target(max_bytes=4), **{**ONE_ROUND, "methods": ["lsh"]})
    assert found.best.n_items == begun[-1][0][1]
    assert clock.now == 600 * len(begun) > 600


def test_who_listens_to_learners_hears_them_all():
    heard = []
    with on_progress(lambda done, *_: heard.append(done)):
        tune(digits(), Target(max_bytes=4), methods=["itq"], n_bits=[16], minutes=1)
    assert heard[:3] == [1, 2, 3]


def test_what_takes_no_time_is_measured_although_the_time_is_up(learning_takes):
    """The best takes all of the last round."""

    def seconds(learner):
        return 40.0 if learner.method == "sh" else 0.0

    begun = learning_takes(seconds)
    options = {"methods": ["sh", "lsh"], "n_bits": [32], "minutes": 1}
    tune(digits(), Target(max_bytes=4), **options)
    last = [words for group in begun for words, n in group if n == begun[-1][0][1]]
    assert last[:2] == ["lsh, 32 bits", "sh, 32 bits"]


@pytest.mark.parametrize(
    "error", [MemoryError(), np.linalg.LinAlgError("no"), ArgumentError("no")]
)
def test_what_fails_is_told_and_the_rest_goes_on(monkeypatch, error):
    def failing(group, X, y):
        if group[0].method == "pcah":
            raise error
        return learn(group, X, y)

    monkeypatch.setattr(_measuring, "learn", failing)
    found = tune(digits(), Target(max_bytes=4), **FEW)
    assert found.refused == {"pcah": str(error) or "there is not enough memory"}
    assert {each.configuration.method for each in found.measured} == {"lsh", "hadamard"}


def test_few_encoders_are_kept(monkeypatch):
    races = []
    start = _race.Race.__init__
    monkeypatch.setattr(
        _race.Race, "__init__", lambda self, *a: races.append(self) or start(self, *a)
    )
    found = tune(digits(), Target(max_bytes=4), **FEW)
    (race,) = races
    assert len(race.measuring.encoders) <= 3 < len(found.measured)
    assert found.configuration.learner.key in race.measuring.encoders


def test_a_length_is_refused_where_the_method_decides_it():
    with pytest.raises(ArgumentError, match="threshold chooses the number of bits"):
        tune(digits(), Target(max_bytes=20), methods=["threshold"], n_bits=[32])


def test_a_length_is_not_handed_to_a_method_that_decides_it():
    chosen = Configuration("itq", 144)
    assert chosen.changed(method="threshold").n_bits is None
    assert chosen.changed(method="lsh").n_bits == 144
    assert chosen.changed(method="threshold", n_bits=8).n_bits == 8


def test_bits_of_few_features_are_those_of_spectral_hashing():
    few = np.random.default_rng(5).uniform(size=(1500, 3)) * [3, 2, 1]
    items = Input("vectors", few.astype(np.float32), None, "few")
    target = Target(max_bytes=2)
    assert "sh" in default_methods(target, of_any_length=False)
    assert tune(items, target, methods=CHEAP).configuration.method == "sh"


def test_accuracy_has_its_article():
    assert Target("accuracy", 0.2).described() == "an accuracy of 0.2"
