"""What is tried first where bytes are made as few as they get."""

from fewbits.training.tuning import Configuration, Target
from fewbits.training.tuning._measured import Measured
from fewbits.training.tuning._prospects import first_untried, hopeless, take_next

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
        measured("bp", 64, 0.6),
        measured("sp", 64, 0.65, "vectors"),
    ]
    names = ("sp", "bp", "cbe")
    pending = [[Configuration(name, 128)] for name in names]
    order = [take_next(pending, found, TARGET)[0].method for _ in names]
    assert order == ["cbe", "bp", "sp"]


def test_anchors_come_first_at_every_length_and_the_cheap_ones_before_the_others():
    found = [measured("fast-neighbours", 64, 0.68), measured("itq", 64, 0.5)]
    asked = [
        Configuration(method, n_bits)
        for n_bits in (64, 128)
        for method in ("fast-neighbours", "neighbours", "itq", "sp")
    ]
    asked.remove(Configuration("itq", 64))  # measured above
    pending = [[each] for each in asked]
    order = [take_next(pending, found, TARGET)[0] for _ in asked]
    assert [(each.method, each.n_bits) for each in order[:4]] == [
        ("itq", 128),
        ("neighbours", 64),
        ("neighbours", 128),
        ("sp", 64),  # nothing is known of its kind
    ]


def test_what_takes_long_comes_behind_what_does_not():
    asked = [Configuration(method, 64) for method in ("itq", "sp", "neighbours")]
    pending = [[each] for each in asked]
    order = [
        take_next(pending, [], TARGET, lambda each: each.method == "itq")[0].method
        for _ in asked
    ]
    assert order == ["neighbours", "sp", "itq"]


def test_very_long_anchors_have_no_precedence():
    pending = [[Configuration("sp", 2048)], [Configuration("itq", 2048)]]
    assert take_next(pending, [], TARGET)[0].method == "sp"


def test_vectors_count_where_memory_is_minimised():
    """Whether longer codes are needed depends on whether vectors are free."""
    found = [measured("itq", 64, 0.5), measured("itq", 64, 0.9, "vectors")]
    in_memory = Target(at_least=0.7, minimise="memory")
    shorter, longer = (Configuration("itq", n_bits) for n_bits in (32, 128))
    assert hopeless(shorter, found, TARGET)
    assert not hopeless(longer, found, TARGET)
    assert not hopeless(shorter, found, in_memory)
    assert hopeless(longer, found, in_memory)


def test_of_what_was_not_measured_anchors_are_named_first():
    found = [measured("itq", 64, 0.8)]
    names = ("sp", 32), ("itq", 128), ("neighbours", 32), ("itq", 32)
    untried = [Configuration(*each) for each in names]
    order = [untried[i] for i in (3, 2, 0, 1)]  # 128 bits are no fewer
    assert list(first_untried(untried, found, TARGET)) == order
    order = [untried[i] for i in (1, 3, 2, 0)]
    assert list(first_untried(untried, found, Target(max_bytes=16))) == order


def test_a_method_is_no_closer_for_longer_codes():
    long = [measured("hadamard", n, q) for n, q in ((64, 0.5), (128, 0.6), (512, 0.9))]
    found = [*long, measured("additive", 128, 0.65)]
    pending = [[Configuration(name, 256)] for name in ("hadamard", "additive")]
    assert take_next(pending, found, Target(at_least=0.95))[0].method == "additive"
