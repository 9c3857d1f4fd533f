"""What is best where nothing keeps all bounds."""

import pytest

from fewbits.errors import ArgumentError
from fewbits.training.tuning import FloatScan, Target, Tuning
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
    # ... and nobody waits for a scan of such a time.
    small = measured(0.9, query_us=190.0, scan_us=180.0)
    assert not small.slower_than_scan
    assert best(Target(max_bytes=8), small, quick) is small


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
