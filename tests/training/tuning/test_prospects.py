"""What is tried first where bytes are made as few as they get."""

from fewbits.training.tuning import Configuration, Target
from fewbits.training.tuning._measured import Measured
from fewbits.training.tuning._prospects import hopeless, take_next

TARGET = Target(at_least=0.7)


def measured(method, n_bits, quality, rerank=None, **parameters):
    vectors = 128 if rerank == "vectors" else 0
    return Measured(
        configuration=Configuration(method, n_bits, parameters, rerank=rerank),
        n_items=1000,
        quality=quality,
        error=0.01,
        memory_bytes=n_bits // 8,
        bytes_per_item=n_bits // 8 + vectors,
        encode_us=1.0,
        search_us=1.0,
        query_us=1.0,
        scan_us=1.0,
        fit_seconds=1.0,
        n_constant_bits=0,
    )


def test_no_shorter_than_what_does_already():
    found = [measured("lsh", 256, 0.72, "scores")]
    assert hopeless(Configuration("itq", 256), found, TARGET)
    assert not hopeless(Configuration("itq", 248), found, TARGET)
    within_its_error = [measured("lsh", 256, 0.709)]
    assert not hopeless(Configuration("itq", 256), within_its_error, TARGET)


def test_shorter_than_one_of_its_kind_that_does_not():
    found = [measured("itq", 256, 0.6), measured("itq", 256, 0.8, "vectors")]
    assert hopeless(Configuration("itq", 128), found, TARGET)
    assert not hopeless(Configuration("itq", 512), found, TARGET)
    assert not hopeless(Configuration("itq", 128, {"n_iter": 9}), found, TARGET)
    assert not hopeless(Configuration("sp", 128), found, TARGET)
    found.append(measured("itq", 256, 0.8, "scores"))
    assert not hopeless(Configuration("itq", 128), found, TARGET)


def test_where_bytes_are_bounded_the_order_stays():
    found = [measured("itq", 64, 0.9), measured("itq", 32, 0.1)]
    for target in (Target(max_bytes=8), Target(at_least=0.7, max_bytes=8)):
        pending = [[Configuration("itq", 16)], [Configuration("sp", 16)]]
        assert take_next(pending, found, target)[0].method == "itq"
    assert not hopeless(Configuration("threshold"), found, TARGET)


def test_what_may_be_the_choice_comes_first_and_nothing_is_left_out():
    found = [measured("lsh", 64, 0.8)]
    itq = [Configuration("itq", n) for n in (128, 64)]
    nested = [Configuration("neighbours", n) for n in (128, 32, 16)]
    pending = [itq, nested]
    order = [take_next(pending, found, TARGET) for _ in range(3)]
    assert order == [nested[1:], itq, nested[:1]]
    assert not pending


def test_new_methods_come_before_those_that_came_closest():
    found = [
        measured("sp", 64, 0.5),
        measured("itq", 64, 0.6),
        measured("sp", 64, 0.65, "vectors"),
    ]
    names = ("sp", "itq", "neighbours")
    pending = [[Configuration(name, 128)] for name in names]
    order = [take_next(pending, found, TARGET)[0].method for _ in names]
    assert order == ["neighbours", "itq", "sp"]


def test_a_method_is_no_closer_for_longer_codes():
    long = [measured("hadamard", n, q) for n, q in ((64, 0.5), (128, 0.6), (512, 0.9))]
    found = [*long, measured("additive", 128, 0.65)]
    pending = [[Configuration(name, 256)] for name in ("hadamard", "additive")]
    assert take_next(pending, found, Target(at_least=0.95))[0].method == "additive"
