"""Measurements outlive an interrupt, and serve another target."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_digits

from fewbits.errors import ArgumentError, ArtefactError
from fewbits.inputs import Input
from fewbits.learners.fitting import on_progress
from fewbits.training.tuning import Target, _measuring, _race, _tune, tune
from fewbits.training.tuning._journal import FORMAT, Journal

X, y = load_digits(return_X_y=True)
SOURCE = Input("vectors", X[:1000].astype(np.float32), None, "digits")
FEW = {"methods": ["lsh", "cbe"], "n_bits": [16, 32]}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.jsonl"


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_an_interrupt_keeps_what_was_measured(path):
    whole = tune(SOURCE, Target(max_bytes=4), **FEW)

    def interrupt(done, total, objective):
        if done == 3:
            raise KeyboardInterrupt

    # The learner keeps what it has reached; that is not to be measured.
    with on_progress(interrupt), pytest.raises(KeyboardInterrupt):
        tune(SOURCE, Target(max_bytes=4), **FEW, journal=path)
    kept = {json.loads(line["key"][1])["method"] for line in lines(path)[1:]}
    assert kept == {"lsh"}
    resumed = tune(SOURCE, Target(max_bytes=4), **FEW, journal=path)
    assert resumed.configuration == whole.configuration
    assert resumed.reported.quality == whole.reported.quality


def test_an_interrupt_of_a_method_that_may_stop_early(path):
    def interrupt(done, total, objective):
        raise KeyboardInterrupt

    labelled = Input("vectors", X[:1000].astype(np.float32), y[:1000], "digits")
    options = {"methods": ["picodes"], "n_bits": [8], "journal": path}
    with on_progress(interrupt), pytest.raises(KeyboardInterrupt):
        tune(labelled, Target("map", max_bytes=4), **options)
    assert len(lines(path)) == 1  # what the file is about


def test_another_target_measures_nothing_anew(path, monkeypatch):
    tune(SOURCE, Target(max_bytes=4), **FEW, journal=path)
    before = path.read_bytes()
    fitted, learn = [], _measuring.learn

    def counted(group, *rows):
        fitted.append(group)
        return learn(group, *rows)

    monkeypatch.setattr(_measuring, "learn", counted)
    found = tune(SOURCE, Target(max_bytes=2), **FEW, journal=path)
    assert path.read_bytes() == before
    assert found.best.bytes_per_item == 2
    assert len(fitted) == 1  # the choice, to report on it


def test_vectors_are_tried_where_there_is_room_for_them(path):
    both = {None, "int8", "float16"}
    for most, kept in [(4, {None}), (200, both), (100, {None, "int8"}), (5, {None})]:
        found = tune(SOURCE, Target(max_bytes=most), **FEW, journal=path)
        seen = {each.configuration.keep_vectors for each in found.measured}
        assert seen == kept
        assert found.best.bytes_per_item <= most


def test_a_line_cut_off_is_measured_again(path):
    one = tune(SOURCE, Target(max_bytes=4), **FEW, journal=path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-50])
    two = tune(SOURCE, Target(max_bytes=4), **FEW, journal=path)
    assert one.configuration == two.configuration
    assert len(lines(path)) == len(whole.splitlines())


def test_other_data_and_settings_are_refused(path):
    tune(SOURCE, Target(max_bytes=4), **FEW, journal=path)
    with pytest.raises(ArtefactError, match="other data or settings"):
        tune(SOURCE, Target(max_bytes=4), **FEW, journal=path, k=5)
    other = Input("vectors", SOURCE.values[::-1], None, "other")
    with pytest.raises(ArtefactError, match="other data or settings"):
        tune(other, Target(max_bytes=4), **FEW, journal=path)
    before = path.read_bytes()
    with pytest.raises(ArtefactError, match="replace it by 'fewbits tune --overw"):
        tune(other, Target(max_bytes=4), **FEW, journal=path)
    assert path.read_bytes() == before
    found = tune(other, Target(max_bytes=4), **FEW, journal=path, overwrite=True)
    after = path.read_bytes()
    assert lines(path)[0]["data"] == _tune.digest(other.values, None)
    # And what is of the same data stays.
    again = tune(other, Target(max_bytes=4), **FEW, journal=path, overwrite=True)
    assert path.read_bytes() == after
    assert again.configuration == found.configuration
    path.write_text("hello\n")
    with pytest.raises(ArtefactError, match="holds no measurements"):
        tune(SOURCE, Target(max_bytes=4), **FEW, journal=path)


def test_what_measured_nothing_is_replaced(path):
    constant = Input("vectors", np.ones((1000, 64), np.float32), None, "constant")
    with pytest.raises(ArgumentError, match="nothing tried suits"):
        tune(constant, Target(max_bytes=2), methods=["bre"], n_bits=[16], journal=path)
    assert len(lines(path)) == 1
    path.write_bytes(path.read_bytes() + b'{"key')  # and a crash later
    tune(SOURCE, Target(max_bytes=4), **FEW, journal=path)
    found = lines(path)
    assert found[0]["data"] == _tune.digest(SOURCE.values, None)
    assert len(found) > 1


def test_every_row_and_what_times_depend_on_tell_journals_apart(path, monkeypatch):
    many = np.random.default_rng(0).normal(size=(2500, 4)).astype(np.float32)
    few = {"methods": ["lsh"], "n_bits": [8], "journal": path}

    def asked():
        tune(Input("vectors", many, None, "many"), Target(max_bytes=1), **few)

    asked()
    many[1] += 1
    with pytest.raises(ArtefactError, match=r"data or settings \(data\)"):
        asked()
    many[1] -= 1
    path.unlink()
    asked()
    monkeypatch.setattr(_tune, "__version__", "0.0.1")
    monkeypatch.setattr(_tune._kernels, "active_isa", lambda: "abacus")
    threads = _tune._kernels.num_threads()
    monkeypatch.setattr(_tune._kernels, "num_threads", lambda: threads + 1)
    with pytest.raises(ArtefactError, match=r"\(version, threads, instructions\)"):
        asked()


@pytest.mark.parametrize("line", ["[]", "3", '"x"', "null"])
def test_a_file_of_something_else_is_refused(path, line):
    path.write_text(f"{line}\n")
    with pytest.raises(ArtefactError, match="holds"):
        tune(SOURCE, Target(max_bytes=4), **FEW, journal=path)


def test_time_that_is_up_leaves_a_choice():
    found = tune(SOURCE, Target(max_bytes=4), **FEW, minutes=1e-9)
    assert {each.configuration.method for each in found.measured} == {"lsh"}
    assert found.reached


def test_rounds_with_more_and_more_rows(path, monkeypatch):
    monkeypatch.setattr(_race, "_LEAST_ROUND", 50)
    monkeypatch.setattr(_race, "_ROWS_PER_NEIGHBOUR", 1)
    seen = []
    found = tune(
        SOURCE,
        Target(max_bytes=4),
        methods=["lsh", "hadamard", "itq"],
        n_bits=[8, 16, 32],
        progress=lambda done, total: seen.append((done, total)),
        journal=path,
    )
    sizes = [line["key"][0] for line in lines(path)[1:]]
    assert sizes == sorted(sizes)
    assert sizes.count(93) > sizes.count(375) > 0
    assert found.reported.n_items == 375
    assert seen[0][1] == 12  # a random rotation of ITQ's as well
    assert all(done <= total for done, total in seen)


def test_what_does_not_suit_the_data_is_left_out():
    narrow = Input("vectors", np.repeat(SOURCE.values[:, 20:23], 8, 1), None, "narrow")
    found = tune(narrow, Target(max_bytes=2), methods=["pcah", "lsh"], n_bits=[16])
    assert found.configuration.method == "lsh"
    with pytest.raises(ArgumentError, match="nothing tried suits the items: PCAH"):
        tune(narrow, Target(max_bytes=2), methods=["pcah"], n_bits=[16])


def test_fewer_features_than_any_length_that_is_tried():
    one = Input("vectors", SOURCE.values[:, 20:21], None, "one")
    told = "nothing to try of pcah: .* features, 1, and 16 are the fewest"
    with pytest.raises(ArgumentError, match=told):
        tune(one, Target(max_bytes=2), methods=["pcah"])


def test_a_length_too_long_for_the_data_leaves_shorter_ones():
    constant = np.zeros((len(SOURCE), 10), np.float32)
    few = np.hstack([SOURCE.values[:, 20:34], constant])
    found = tune(
        Input("vectors", few, None, "few"),
        Target(max_bytes=2),
        methods=["pcah"],
        n_bits=[8, 16],
    )
    assert {each.configuration.n_bits for each in found.measured} == {8}


def test_labels_that_are_all_different_are_refused():
    names = np.array([f"item {i}" for i in range(len(SOURCE))])
    source = Input("vectors", SOURCE.values, names, "digits")
    for quality in ("map", "accuracy"):
        with pytest.raises(ArgumentError, match="the labels of digits are all diff"):
            tune(source, Target(quality, max_bytes=4), **FEW)
    assert tune(source, Target(max_bytes=4), **FEW).reached  # recall needs none


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["magic"]}, "no method 'magic'"),
        ({"methods": ["cca-itq"]}, "cca-itq learns from labels"),
        ({"n_bits": [0]}, "n_bits"),
        ({"n_bits": [64]}, "64 bits take more than 4 bytes"),
        ({"k": 0}, "k must be"),
        ({"k": 400}, "too few for k=400"),
        ({"minutes": 0}, "minutes must be above 0"),
        ({"random_state": -1}, "random_state"),
        ({"backbone": "wordllama-256"}, "vectors need no backbone"),
        ({"target": Target("map", max_bytes=4)}, "map goes by labels"),
    ],
)
def test_mistakes(options, message):
    given = {"target": Target(max_bytes=4), "methods": ["lsh"], **options}
    with pytest.raises(ArgumentError, match=message):
        tune(SOURCE, given.pop("target"), **given)


def test_numbers_too_large_for_half_precision_are_not_kept():
    large = Input("vectors", SOURCE.values * 1e5, None, "large")
    found = tune(large, Target(at_least=0.1), **FEW)
    kept = {each.configuration.keep_vectors for each in found.measured}
    assert kept == {None, "int8"}


def test_what_is_no_number_is_named():
    broken = SOURCE.values.copy()
    broken[:, 3] = np.nan
    with pytest.raises(ArgumentError, match=r"nothing tried .* NaN"):
        tune(Input("vectors", broken, None, "broken"), Target(max_bytes=4), **FEW)


def test_too_few_rows():
    few = Input("vectors", SOURCE.values[:50], None, "few")
    with pytest.raises(ArgumentError, match="50 items are too few to tune on"):
        tune(few, Target(max_bytes=4))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give a target"),
        ({"at_least": 1.5}, "at most 1"),
        ({"max_bytes": 0}, "takes a byte"),
        ({"max_encode_us": 0.0}, "more than 0"),
        ({"quality": "beauty", "max_bytes": 1}, "quality must be"),
    ],
)
def test_targets_out_of_range(options, message):
    with pytest.raises(ArgumentError, match=message):
        Target(**options)


@pytest.mark.parametrize("content", ['{"precious": 1}', '{"a": 1}\n{"b": 2}', "words"])
def test_a_file_of_something_else_stays_as_it_is(tmp_path, content):
    path = tmp_path / "notes.jsonl"
    path.write_text(content)
    for overwrite in (False, True):
        with pytest.raises(ArtefactError, match="holds no measurements"):
            Journal(path, {"k": 10}, overwrite=overwrite)
    assert path.read_text() == content


def test_measurements_of_another_version_are_replaced_if_asked_for(tmp_path):
    path = tmp_path / "m.jsonl"
    content = '{"format": "fewbits-measurements-0", "k": 10}\n{"unknown": 1}\n'
    path.write_text(content)
    with pytest.raises(ArtefactError, match=r"settings \(format\)"):
        Journal(path, {"k": 10})
    assert path.read_text() == content
    Journal(path, {"k": 10}, overwrite=True)
    assert [each["format"] for each in lines(path)] == [FORMAT]


def test_a_first_line_that_was_cut_off_is_written_again(tmp_path):
    path = tmp_path / "m.jsonl"
    Journal(path, {"k": 10})
    whole = path.read_bytes()
    for n in (0, 5, len(whole) - 1):
        path.write_bytes(whole[:n])
        Journal(path, {"k": 10})
        assert path.read_bytes() == whole
