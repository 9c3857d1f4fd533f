"""A grid measures what is missing, once."""

import pytest

from research.core.record import Store
from research.core.runner import Task, rounded, run, task


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "a.parquet")


def _tasks(called):
    def measure(n):
        called.append(n)
        return {"square": n * n}

    for n in range(3):
        yield task("p", {"n": n, "seed": 0}, lambda n=n: measure(n))


def test_what_is_measured_is_not_measured_again(store):
    called, lines = [], []
    assert run(_tasks(called), store, {"n": ["1"]}, lines.append) == 1
    assert run(_tasks(called), store, report=lines.append) == 2
    assert run(_tasks(called), store, report=lines.append) == 0
    assert called == [1, 0, 2]
    assert [r.metrics["square"] for r in store.read()] == [1, 0, 4]
    assert lines == ["p n=1 seed=0", "p n=0 seed=0", "p n=2 seed=0"]


def test_what_is_stored_is_measured_again_where_asked(store):
    called = []
    for again in (False, True):
        run(_tasks(called), store, {"n": ["2"]}, lambda _: None, again)
    assert called == [2, 2]
    assert len(store.read()) == 1


def test_an_interrupted_run_keeps_what_was_done(store):
    def broken():
        raise KeyboardInterrupt

    tasks = [*_tasks([]), task("p", {"n": 9, "seed": 0}, broken)]
    with pytest.raises(KeyboardInterrupt):
        run(tasks, store, report=lambda _: None)
    assert len(store.read()) == 3


def test_cells_that_are_measured_together_run_where_any_is_missing(store):
    both = Task("p", [{"n": 1}, {"n": 2}], lambda: [{"m": 1}, {"m": 2}])
    run([task("p", {"n": 1}, lambda: {"m": 0})], store, report=lambda _: None)
    run([both], store, {"part": ["other"]}, lambda _: None)
    assert len(store.read()) == 1
    run([both], store, {"part": ["p"], "n": ["2", "3"]}, lambda _: None)
    assert [r.metrics["m"] for r in store.read()] == [1, 2]


def test_metrics_have_seven_digits_and_curves_five():
    found = rounded({"a": 0.123456789, "b": (0.123456789, 12345678), "n": 123456789})
    assert found == {"a": 0.1234568, "b": [0.12346, 12345678], "n": 123456789}
