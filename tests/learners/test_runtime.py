"""What the blocks around a fit say of it, in other threads and processes, too."""

import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from copy import deepcopy

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from fewbits._kernels import num_threads, set_num_threads
from fewbits._runtime import NO_BLOCK, Runtime, current_runtime
from fewbits.errors import ArgumentError
from fewbits.learners import (
    ITQ,
    KernelMapped,
)
from fewbits.learners._core._device import current_backend
from fewbits.learners.fitting import (
    checkpoints_kept,
    on_device,
    on_progress,
    shared_steps,
    thread_limit,
)
from tests.learners._witness import Witness, fitted, seen

X = np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32)
LEARNER = Witness(8, random_state=0)

pytest.importorskip("torch")


def ignore(*_):
    """Hear of progress; a function of a module, which would pickle."""


BLOCKS = {
    "device": lambda: on_device("cpu"),
    "threads": lambda: thread_limit(1),
    "progress": lambda: on_progress(lambda *_: None),
    "shared_steps": shared_steps,
    "done_checkpoints": checkpoints_kept,
}
OF_THE_BLOCK = ("listens", "shares", "keeps")
each_block = pytest.mark.parametrize("field", BLOCKS)


@pytest.fixture(autouse=True)
def three_threads():
    """More threads than limits below ask for, on any machine."""
    set_num_threads(3)
    with threadpool_limits(3, user_api="blas"):
        yield
    set_num_threads(None)


def all_blocks():
    stack = ExitStack()
    for block in BLOCKS.values():
        stack.enter_context(block())
    return stack


def in_another_thread(function, *arguments):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments).result()


def test_there_is_a_block_for_every_field():
    assert set(BLOCKS) == set(vars(NO_BLOCK))


@each_block
def test_a_block_sets_its_field_and_leaves_the_others(field):
    with on_device("auto"), thread_limit(2), on_progress(ignore):
        around = vars(current_runtime())
        with BLOCKS[field]():
            inside = vars(current_runtime())
        assert vars(current_runtime()) == around
    changed = {name for name in inside if inside[name] is not around[name]}
    assert changed == {field}
    assert current_runtime() == NO_BLOCK


@each_block
def test_a_block_ends_with_an_error(field):
    with pytest.raises(ZeroDivisionError), BLOCKS[field]():
        1 / 0  # noqa: B018
    assert current_runtime() == NO_BLOCK


@each_block
def test_a_block_is_of_its_thread(field):
    with BLOCKS[field]():
        assert in_another_thread(current_runtime) == NO_BLOCK


def test_a_pickle_holds_device_and_threads():
    with all_blocks():
        runtime = current_runtime()
    assert runtime.progress is not None
    assert pickle.loads(pickle.dumps(runtime)) == Runtime("cpu", 1)


def test_fit_in_the_thread_of_the_blocks_has_them_all():
    with all_blocks():
        found = clone(LEARNER).fit(X).seen_
    assert (found["device"], found["threads"], found["blas"]) == ("cpu", 1, 1)
    assert all(found[what] for what in OF_THE_BLOCK)
    found = clone(LEARNER).fit(X).seen_
    assert (found["device"], found["threads"], found["blas"]) == ("NumPy", 3, 3)


def test_blocks_end_for_the_clones_made_in_them():
    with all_blocks():
        made = clone(LEARNER)
    for learner in (made, clone(made), deepcopy(made)):
        found = learner.fit(X).seen_
        assert (found["device"], found["threads"]) == ("NumPy", 3)


def test_a_clone_goes_to_another_thread():
    with all_blocks():
        made = clone(LEARNER)
    found = in_another_thread(fitted, made, X)
    assert (found["device"], found["threads"]) == ("cpu", 1)
    assert not any(found[what] for what in OF_THE_BLOCK)
    assert in_another_thread(fitted, clone(LEARNER), X)["device"] == "NumPy"


def test_clones_of_clones_and_what_they_wrap_go_along():
    with on_device("cpu"):
        piped = clone(make_pipeline(StandardScaler(), LEARNER))
        mapped = clone(KernelMapped(LEARNER))

    def fit():
        wrapped = clone(clone(mapped)).fit(np.abs(X)).learner_
        return clone(piped).fit(X)[-1].seen_, wrapped.seen_

    assert [found["device"] for found in in_another_thread(fit)] == ["cpu", "cpu"]


def test_blocks_of_the_thread_come_first():
    with on_device("auto"), thread_limit(2):
        made = clone(LEARNER)

    def fit():
        with on_device("cpu"):
            twice = clone(made)
            return made.fit(X).seen_, twice.fit(X).seen_, clone(made).fit(X).seen_

    for found in in_another_thread(fit):
        assert (found["device"], found["threads"]) == ("cpu", 2)


def test_a_limit_ends_with_the_fit_that_took_it_along():
    with thread_limit(1):
        made = clone(LEARNER)

    def fit():
        before = num_threads(), current_runtime()
        made.fit(X)
        return before, (num_threads(), current_runtime())

    before, after = in_another_thread(fit)
    assert before == after == (3, NO_BLOCK)


def test_encoding_elsewhere_keeps_to_the_limit(monkeypatch):
    with thread_limit(1):
        made = clone(LEARNER)
    kinds: list[int] = []

    def encode():
        made.fit(X)
        real = type(made.encoder_).encode
        monkeypatch.setattr(
            type(made.encoder_),
            "encode",
            lambda self, X: (kinds.append(num_threads()), real(self, X))[1],
        )
        made.transform(X)

    in_another_thread(encode)
    assert kinds == [1]


def test_pickles_of_fitted_learners_hold_no_runtime():
    with all_blocks():
        learner = clone(LEARNER)
        whole = vars(pickle.loads(pickle.dumps(learner)))
        left = vars(pickle.loads(pickle.dumps(learner.fit(X))))
    assert set(whole) - {"_carried"} == set(LEARNER.get_params())
    assert "_carried" in whole
    assert "_carried" not in left
    assert "encoder_" in left


def test_nothing_is_added_outside_of_blocks():
    assert vars(clone(LEARNER)) == LEARNER.get_params()
    assert vars(pickle.loads(pickle.dumps(LEARNER))) == LEARNER.get_params()


def test_a_pickle_is_the_same_in_every_thread():
    # Pipelines with a memory look results up by it.
    def pickled():
        with all_blocks():
            return joblib.hash(clone(LEARNER))

    assert pickled() == in_another_thread(pickled)


def test_threads_of_a_grid_search_use_the_runtime():
    def searched(**options):
        search = GridSearchCV(
            LEARNER, {"n_bits": [4, 8]}, scoring=seen, cv=2, refit=False, **options
        )
        return search.fit(X).cv_results_

    with all_blocks():
        alone = searched()
        with joblib.parallel_config(backend="threading"):
            threads = searched(n_jobs=2)
    for result in (alone, threads):
        assert result["mean_test_device"].tolist() == [1, 1]
        assert result["mean_test_threads"].tolist() == [1, 1]
    assert alone["mean_test_listens"].tolist() == [1, 1]
    assert threads["mean_test_listens"].tolist() == [0, 0]


def test_a_pickle_takes_the_runtime_to_another_process():
    with all_blocks():
        learner = pickle.dumps(LEARNER)
    work = [joblib.delayed(fitted)(pickle.loads(learner), X)] * 2
    for found in joblib.Parallel(n_jobs=2)(work):  # pickles it once more
        assert (found["device"], found["threads"]) == ("cpu", 1)
        assert found["process"] != os.getpid()
        assert not found["listens"]


def test_deep_learners_take_the_device_along(monkeypatch):
    import torch

    from fewbits.learners.deep import DeepHash, TrainingConfig
    from fewbits.learners.deep._network import as_device

    devices = []
    monkeypatch.setattr(
        "fewbits.learners.deep._base.as_device",
        lambda name: devices.append(as_device(name)) or torch.device("cpu"),
    )
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with on_device("cpu"):
        made = clone(DeepHash(4, training=TrainingConfig(max_epochs=1)))
    in_another_thread(made.fit, X, np.arange(60) % 2)
    assert {each.type for each in devices} == {"cpu"}


def test_limits_within_each_other():
    with thread_limit(2):
        with thread_limit(5):
            assert num_threads() == 2
        with thread_limit(1):
            assert num_threads() == 1
        assert num_threads() == 2
    assert num_threads() == 3


@pytest.mark.parametrize("n", [0, -1, 1.5, None, True])
def test_limits_that_are_none(n):
    told = "the limit of threads must be"
    with pytest.raises(ArgumentError, match=told), thread_limit(n):
        pass
    assert current_runtime() == NO_BLOCK


def test_torch_keeps_to_the_limit():
    import torch

    before = torch.get_num_threads()
    found = []

    class Counted(Witness):
        def _learn(self, X, y):
            found.append(torch.get_num_threads())
            return super()._learn(X, y)

    torch.set_num_threads(3)
    try:
        with thread_limit(2):
            Counted(4, random_state=0).fit(X)
        assert found == [2]
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_a_device_is_looked_up_where_the_fit_is(monkeypatch):
    with on_device("auto"):
        assert pickle.loads(pickle.dumps(current_runtime())).device == "auto"
        assert current_backend() is current_backend()


def test_codes_are_those_without_a_limit():
    expected = ITQ(8, n_iter=3, random_state=0).fit(X).encode(X)
    with thread_limit(1):
        found = ITQ(8, n_iter=3, random_state=0).fit(X).encode(X)
    assert np.mean(found != expected) < 0.05
