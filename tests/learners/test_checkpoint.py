"""Fits that are interrupted or killed, and go on to the same result."""

import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

from fewbits.errors import ArgumentError, ArtefactError
from fewbits.learners import (
    BRE,
    CBE,
    CCAITQ,
    DBC,
    ITQ,
    BilinearProjections,
    FastNeighbourCodes,
    KernelMapped,
    NeighbourCodes,
    PiCoDes,
    RelaxedPiCoDes,
    SparseProjections,
    _neighbour_training,
)
from fewbits.learners._core import _base, _iterative
from fewbits.learners.fitting import on_progress
from tests.learners._made import made

pytestmark = pytest.mark.filterwarnings("ignore:only .* bits are different")

X = np.random.default_rng(0).normal(size=(100, 8))
Y = np.arange(100) % 3
N_ITER = 6

RESUMABLE = [
    ITQ(12, n_iter=N_ITER, random_state=0),
    CCAITQ(6, n_iter=N_ITER, random_state=0),
    SparseProjections(6, density=0.5, n_iter=N_ITER, random_state=0),
    made(
        SparseProjections,
        12,
        density=0.5,
        kind="iterative",
        n_iter=N_ITER,
        random_state=0,
    ),
    CBE(12, n_iter=N_ITER, random_state=0),
    BilinearProjections(6, n_iter=N_ITER, random_state=0),
    NeighbourCodes(6, nested_bits=(3,), n_iter=N_ITER, random_state=0),
    made(FastNeighbourCodes, 12, validation=0, n_iter=N_ITER, random_state=0),
    PiCoDes(6, class_weight="balanced", n_iter=N_ITER, random_state=0, tol=0),
    RelaxedPiCoDes(6, n_iter=N_ITER, random_state=0),
    DBC(6, n_iter=N_ITER, random_state=0),
    BRE(6, n_anchors=4, n_iter=N_ITER, random_state=0),
]


def named(learner):
    return f"{type(learner).__name__}-{learner.n_bits}"


class Killed(Exception):
    pass


def stop_at(n, error, planned=N_ITER):
    def listener(done, total, objective):
        if (done, total) == (n, planned):
            raise error

    return on_progress(listener)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit.npz"


@pytest.fixture(autouse=True)
def few_steps(monkeypatch):
    """Make iterations of five steps: what they lead to does not matter here."""
    monkeypatch.setattr(_neighbour_training, "_BATCHES", 5)


@pytest.fixture
def every_iteration(monkeypatch):
    monkeypatch.setattr(_iterative, "_PAUSE", 0.0)
    monkeypatch.setattr(_iterative, "_WRITING_SHARE", np.inf)


def same(one, other):
    return (
        one.encoder_.fingerprint == other.encoder_.fingerprint
        and one.objective_.tolist() == other.objective_.tolist()
    )


@pytest.mark.parametrize("learner", RESUMABLE, ids=named)
@pytest.mark.usefixtures("every_iteration")
def test_killed_fit_goes_on_to_the_same_result(learner, path):
    check_goes_on(learner, path, n_done=4)


@pytest.mark.usefixtures("every_iteration")
@pytest.mark.parametrize("n_done", [1, N_ITER])
@pytest.mark.parametrize(
    "learner",
    [ITQ(5), NeighbourCodes(4), DBC(6)],
    ids=named,
)
def test_killed_at_the_first_or_last_iteration(learner, path, n_done):
    learner = clone(learner).set_params(n_iter=N_ITER, random_state=0)
    check_goes_on(learner, path, n_done)


def check_goes_on(learner, path, n_done):
    whole = clone(learner).fit(X, Y)
    resumed = clone(learner).set_params(checkpoint=path)
    with pytest.raises(Killed), stop_at(n_done, Killed):
        clone(resumed).fit(X, Y)
    seen = []
    with on_progress(lambda *told: seen.append(told[:2])):
        resumed.fit(X, Y)
    assert [done for done, total in seen if total == N_ITER] == list(
        range(n_done + 1, N_ITER + 1)
    )
    assert same(resumed, whole)
    assert not path.exists()


@pytest.mark.parametrize("learner", RESUMABLE[::4], ids=named)
def test_interrupted_fit_is_kept_and_goes_on(learner, path):
    whole, first = clone(learner).fit(X, Y), clone(learner).set_params(checkpoint=path)
    message = "interrupted after 3 of 6 .* the same fit resumes from"
    with stop_at(3, KeyboardInterrupt), pytest.warns(UserWarning, match=message):
        first.fit(X, Y)
    assert first.n_iter_ == 3
    assert same(clone(first).fit(X, Y), whole)
    assert not path.exists()


def test_fit_that_is_over_begins_anew(path):
    learner = ITQ(6, n_iter=3, random_state=0, checkpoint=path).fit(X)
    assert same(learner, clone(learner).fit(X))


@pytest.mark.usefixtures("every_iteration")
def test_tolerance_ends_a_resumed_fit_where_it_ended(path):
    learner = ITQ(6, n_iter=50, tol=1e-2, random_state=0)
    whole = clone(learner).fit(X)
    learner.set_params(checkpoint=path)
    with pytest.raises(Killed), stop_at(whole.n_iter_, Killed, 50):
        clone(learner).fit(X)
    assert same(learner.fit(X), whole)


KILL = """
import os, signal, sys
import numpy as np
from fewbits.learners import ITQ
from fewbits.learners.fitting import on_progress
from fewbits.learners._core import _iterative

_iterative._PAUSE, _iterative._WRITING_SHARE = 0.0, float("inf")

def kill(done, total, objective):
    if done == 4:
        os.kill(os.getpid(), signal.SIGKILL)

X = np.random.default_rng(0).normal(size=(100, 8))
with on_progress(kill):
    ITQ(12, n_iter=6, random_state=0, checkpoint=sys.argv[1]).fit(X)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_killed_process(path):
    killed = subprocess.run([sys.executable, "-c", KILL, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    learner = ITQ(12, n_iter=6, random_state=0)
    seen = []
    with on_progress(lambda done, *_: seen.append(done)):
        resumed = clone(learner).set_params(checkpoint=path).fit(X)
    assert seen == [5, 6]
    assert same(resumed, learner.fit(X))


@pytest.fixture
def unfinished(path):
    """Return a learner that was interrupted, with its file."""
    learner = CCAITQ(6, n_iter=N_ITER, random_state=0, checkpoint=path)
    with stop_at(2, KeyboardInterrupt), pytest.warns(UserWarning, match="resumes from"):
        learner.fit(X, Y)
    return learner


@pytest.mark.parametrize(
    ("parameters", "X", "y", "told"),
    [
        ({"reg": 0.5}, X, Y, "reg was 1.0, now 0.5"),
        ({"random_state": 1}, X, Y, "random_state was 0, now 1"),
        ({}, X + np.eye(100, 8), Y, "its rows or labels were others"),
        ({}, X[::-1], Y, "its rows or labels were others"),
        ({}, X, Y[::-1], "its rows or labels were others"),
    ],
)
def test_checkpoint_of_another_fit_is_refused(unfinished, parameters, X, y, told):
    other = clone(unfinished).set_params(**parameters)
    with pytest.raises(ArtefactError, match=f"belongs to another fit: {told}"):
        other.fit(X, y)


def test_another_learner_is_refused(unfinished, path):
    other = ITQ(6, n_iter=N_ITER, random_state=0, checkpoint=path)
    with pytest.raises(ArtefactError, match="belongs to another fit"):
        other.fit(X)


def test_same_rows_in_another_layout_go_on(unfinished):
    whole = clone(unfinished).set_params(checkpoint=None).fit(X, Y)
    again = clone(unfinished).fit(np.asfortranarray(X.astype(np.float32)), list(Y))
    assert same(again, whole)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "unknown"])
def test_damaged_checkpoint_is_refused(unfinished, path, damage):
    content = bytearray(path.read_bytes())
    if damage == "flipped":
        content[len(content) // 4] ^= 1
    length = {"cut": len(content) // 2, "empty": 0}.get(damage, len(content))
    path.write_bytes(b"no checkpoint" if damage == "unknown" else content[:length])
    with pytest.raises(ArtefactError, match="is not a checkpoint of a fit"):
        clone(unfinished).fit(X, Y)


@pytest.mark.parametrize(
    ("learner", "module", "last_step"),
    [
        (ITQ(6, n_iter=N_ITER, random_state=0), _base, "warn_constant_bits"),
        (
            NeighbourCodes(6, n_iter=N_ITER, random_state=0),
            _neighbour_training.Training,
            "best",
        ),
    ],
)
def test_end_of_a_fit_can_be_interrupted(learner, module, last_step, path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    resumed = clone(learner).set_params(checkpoint=path)
    with monkeypatch.context() as patch:
        patch.setattr(module, last_step, interrupt)
        with pytest.raises(KeyboardInterrupt):
            clone(resumed).fit(X)
    seen = []
    with on_progress(lambda *told: seen.append(told[:2])):
        resumed.fit(X)
    assert not [done for done, total in seen if total == N_ITER]
    assert same(resumed, clone(learner).fit(X))
    assert not path.exists()


NEVER_READ = np.full((100, 8), np.nan)  # where rows are looked at, they are refused


def test_file_that_cannot_be_written_is_told_at_once(tmp_path):
    nowhere = tmp_path / "nowhere" / "fit.npz"
    with pytest.raises(FileNotFoundError, match="nowhere"):
        ITQ(6, random_state=0, checkpoint=nowhere).fit(NEVER_READ)


def test_other_parameters_are_told_at_once(unfinished):
    with pytest.raises(ArtefactError, match=r"reg was 1\.0, now 0\.5"):
        clone(unfinished).set_params(reg=0.5).fit(NEVER_READ, Y)


def test_checkpoint_of_another_version_is_refused(unfinished, monkeypatch):
    monkeypatch.setattr(_iterative, "__version__", "0.0.1")
    with pytest.raises(ArtefactError, match=r"version was '.*', now '0\.0\.1'"):
        clone(unfinished).fit(X, Y)


@pytest.mark.parametrize("seed", [None, np.random.RandomState(0)])
def test_needs_a_seed(path, seed):
    with pytest.raises(ArgumentError, match="random_state must be an integer, got"):
        ITQ(6, random_state=seed, checkpoint=path).fit(X)


def test_behind_a_kernel_map(path):
    learner = KernelMapped(ITQ(6, n_iter=N_ITER, random_state=0), signed=True)
    whole = clone(learner).fit(X)
    learner.learner.set_params(checkpoint=path)
    with stop_at(2, KeyboardInterrupt), pytest.warns(UserWarning, match="resumes from"):
        clone(learner).fit(X)
    assert same(clone(learner).fit(X), whole)
