"""What is best where nothing keeps all bounds."""

from dataclasses import replace

import pytest

from fewbits.errors import ArgumentError
from fewbits.training.tuning import FloatScan, Target, Tuning
from fewbits.training.tuning._target import frontier
from tests.training.tuning._measured import measured


def best(target, *found):
    return min(found, key=target.rank)


@pytest.mark.parametrize("bound", [0.5, 7.5])
def test_of_what_takes_too_long_the_fastest_is_nearest(bound):
    slow, fast = measured(0.9, encode_us=13.5), measured(0.2, encode_us=8.25)
    assert best(Target(max_encode_us=bound), slow, fast) is fast


@pytest.mark.parametrize("bound", [0.5, 5, 7.5])
def test_of_what_is_about_equally_near_quality_decides(bound):
    times = {0.152: 8.44, 0.275: 8.62, 0.574: 9.32, 0.41: 8.4}
    found = [measured(quality, encode_us=time) for quality, time in times.items()]
    assert best(Target(max_encode_us=bound), *found).quality == 0.574


def test_the_bound_that_is_broken_most_counts():
    target = Target(at_least=0.8, max_encode_us=8)
    fast, good = measured(0.2, encode_us=8), measured(0.7, encode_us=11)
    assert best(target, fast, good) is good
    target = Target(max_bytes=8, max_encode_us=8)
    short, long = measured(n_bytes=8, encode_us=16), measured(n_bytes=12, encode_us=4)
    assert best(target, short, long) is long


def test_of_what_is_cheap_enough_quality_decides():
    target = Target(at_least=0.9, max_bytes=8)
    good, bad = measured(0.8, n_bytes=8), measured(0.2, n_bytes=1)
    dear = measured(0.99, n_bytes=9)
    assert best(target, dear, bad, good) is good
    fewest = Target(at_least=0.9)
    assert best(fewest, measured(0.2, n_bytes=1), good) is good
    assert best(fewest, dear, measured(0.95, n_bytes=7), good).bytes_per_item == 7


def test_what_a_full_scan_outruns_is_not_preferred():
    quick, slow = (
        measured(quality, query_us=time, scan_us=1000.0)
        for quality, time in ((0.8, 900.0), (0.9, 1100.0))
    )
    assert best(Target(max_bytes=8), slow, quick) is quick
    assert best(Target(at_least=0.7), slow, quick) is quick
    # Where nothing else meets the bounds it is better than nothing ...
    assert best(Target(at_least=0.85), slow, quick) is slow
    # ... and a scan as short as this is not noticed.
    small = measured(0.9, query_us=190.0, scan_us=180.0)
    assert small.slower_than_scan
    assert not small.outrun_by_scan
    assert best(Target(max_bytes=8), small, quick) is small


def with_vectors(quality, in_memory, on_disk):
    return replace(measured(quality, in_memory), bytes_per_item=on_disk)


def test_memory_can_be_bounded_and_disk_is_not():
    codes, short, long = (
        with_vectors(*each) for each in ((0.8, 8, 8), (0.99, 8, 80), (1.0, 16, 88))
    )
    found = codes, short, long
    assert best(Target(max_memory_bytes=8), *found) is short
    assert best(Target(max_memory_bytes=8, max_bytes=16), *found) is codes
    assert best(Target(max_bytes=100), *found) is long
    assert best(Target(at_least=0.9, max_memory_bytes=16), *found) is short
    assert Target(max_memory_bytes=8).objective == "quality"
    assert Target(at_least=0.9, max_memory_bytes=8).objective == "bytes"
    assert Target(max_memory_bytes=8).described() == "8 bytes per item in memory"


def test_memory_can_be_minimised():
    long, short = with_vectors(0.95, 64, 64), with_vectors(0.95, 4, 200)
    dear = with_vectors(0.99, 4, 400)
    target = Target(at_least=0.9, minimise="memory")
    assert best(target, long, short, dear) is short
    assert best(Target(at_least=0.9), long, short, dear) is long
    within = Target(at_least=0.9, max_bytes=100, minimise="memory")
    assert within.objective == "bytes"
    assert best(within, long, short, dear) is long
    assert (target.cost, Target(at_least=0.9).cost) == ("memory", "bytes")
    # All three are on the frontier where bytes in memory count.
    assert frontier([long, short, dear], target) == [short, dear, long]
    assert frontier([long, short, dear], Target(at_least=0.9)) == [long, dear]


def test_of_what_takes_too_much_memory_the_least_is_nearest():
    target = Target(max_memory_bytes=4)
    much, little = with_vectors(0.9, 16, 80), with_vectors(0.5, 8, 200)
    assert best(target, much, little) is little


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_memory_bytes": 0}, "an item takes a byte at least, got 0"),
        ({"max_bytes": 8, "minimise": "memory"}, "a minimum quality is needed"),
        ({"at_least": 0.9, "minimise": "time"}, "must be bytes or memory, got 'time'"),
    ],
)
def test_what_of_memory_cannot_be_asked_for(options, message):
    with pytest.raises(ArgumentError, match=message):
        Target(**options)


def test_a_query_takes_no_longer_than_allowed():
    fast, good = measured(0.5, query_us=900.0), measured(0.9, query_us=1000.0)
    target = Target(max_query_ms=1)
    assert best(target, fast, good) is fast  # by a margin
    assert target.screening.affords(good)
    assert target.objective == "quality"
    assert target.described() == "1 milliseconds per query"
    with pytest.raises(ArgumentError, match="more than 0 milliseconds"):
        Target(max_query_ms=0)


@pytest.mark.parametrize(
    ("target", "named"),
    [
        # Codes of 8 bytes have .5; floats of 16 bytes have .95, of 32 all.
        (Target(at_least=0.4), None),  # met in fewer bytes
        (Target(at_least=0.9), "int8"),  # not met
        (Target(at_least=0.96), "float16"),
        (Target(at_least=0.96, max_bytes=16), None),
        (Target(max_bytes=8), None),
        (Target(max_bytes=16), "int8"),
        (Target(max_memory_bytes=16), "int8"),
        (Target(max_memory_bytes=8), None),
        (Target(max_query_ms=0.1), None),
        (Target(max_query_ms=1), "int8"),
    ],
)
def test_vectors_stand_where_codes_gain_nothing(target, named):
    floats = FloatScan("int8", 16, 0.95, 500.0), FloatScan("float16", 32, 1.0, 500.0)
    one = measured(quality=0.5, n_bytes=8)
    found = Tuning(target, 10, one, one, [one], [one], floats=floats)
    better = found.better_as_floats
    assert (better and better.name) == named


def test_a_query_that_takes_too_long_is_no_confirmation():
    one, late = measured(query_us=900.0), measured(query_us=1100.0)
    target = Target(max_query_ms=1)
    assert Tuning(target, 10, one, one, [one], [one]).confirmed
    assert not Tuning(target, 10, one, late, [one], [one]).confirmed
