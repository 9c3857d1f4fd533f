"""Ctrl-C during ``fewbits fit``: one line, exit code 130, and nothing is lost."""

import os
import subprocess
import sys
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from typer.testing import CliRunner

from fewbits.collection import Collection
from fewbits.cli import app
from fewbits.cli._interrupts import telling_what_is_left

FIT = ["fit", "x.npy", "-b", "16", "-o", "b"]
CSQ = ["-m", "csq", "--label", "y.npy", "--set", "training.max_epochs=4"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32)
    np.save("x.npy", X)
    np.save("y.npy", np.arange(60) % 3)
    return tmp_path


def run(*options):
    # An option that is given twice is refused.
    fit = FIT[:-2] if "-o" in options else FIT
    return CliRunner().invoke(app, [*fit, *options])


def interrupted(*options, after=4):
    def interrupt(done, total, note=""):
        if done == after:
            raise KeyboardInterrupt

    @contextmanager
    def interrupting(label):
        yield interrupt

    with patch("fewbits.cli._fit.progress_bar", interrupting):
        result = run("--set", "n_iter=9", *options)
    assert (result.exit_code, result.stdout) == (130, "")
    return result.stderr


def snapshot(folder):
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


TERMINATED = """
import os, signal, sys
from unittest.mock import patch
from fewbits.cli import main

def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGTERM)

sys.argv = ["fewbits", "fit", "x.npy", "-o", "b"]
with patch("fewbits.training.fit_bundle", kill):
    main()
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGTERM cannot be caught there")
def test_a_job_that_is_ended_is_interrupted(folder):
    command = [sys.executable, "-c", TERMINATED]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    told = "fewbits: interrupted before anything was saved\n"
    assert (found.returncode, found.stdout, found.stderr) == (130, "", told)


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_what_was_learnt_is_kept_where_no_bundle_was(folder, form):
    told = "fewbits: interrupted after 4 of 9 iterations; b holds the encoder learnt "
    assert interrupted(*form) == f"{told}so far\n"
    kept = Collection.open("b")
    assert kept.summary()["interrupted"] == "after 4 iterations"
    assert run("--set", "n_iter=4", "--overwrite").exit_code == 0
    assert Collection.open("b").encoder.fingerprint == kept.encoder.fingerprint
    assert "interrupted" not in Collection.open("b").summary()


def test_a_finished_bundle_is_left_as_it_was(folder):
    assert run().exit_code == 0
    before = snapshot(folder)
    told = "fewbits: interrupted after 4 of 9 iterations; b is unchanged\n"
    assert interrupted("--overwrite") == told
    assert snapshot(folder) == before


def test_the_same_command_goes_on_from_a_checkpoint(folder):
    assert run("--set", "n_iter=9").exit_code == 0
    whole = Collection.open("b").encoder.fingerprint
    resumable = ["--checkpoint", "c.npz", "-o", "resumed"]
    told = "interrupted after 4 of 9 iterations; the same command resumes from c.npz"
    assert interrupted(*resumable) == f"fewbits: {told}\n"
    assert run("--set", "n_iter=9", *resumable).exit_code == 0
    assert Collection.open("resumed").encoder.fingerprint == whole


def test_a_checkpoint_of_a_phase_is_told(tmp_path):
    checkpoint = tmp_path / "c.pt"
    for begun in (False, True):
        with (
            pytest.raises(KeyboardInterrupt) as told,
            telling_what_is_left(tmp_path / "b", checkpoint),
        ):
            raise KeyboardInterrupt
        assert ("resumes from" in str(told.value)) == begun
        (tmp_path / "c.pt.codebook").touch()


def test_a_checkpoint_in_no_folder_is_not_told(tmp_path):
    nowhere = tmp_path / "nowhere" / "c.pt"
    with (
        pytest.raises(KeyboardInterrupt, match=r"ed before anything was saved$"),
        telling_what_is_left(tmp_path / "b", nowhere),
    ):
        raise KeyboardInterrupt


def test_an_interrupt_before_the_first_iteration(folder):
    assert run().exit_code == 0
    before = snapshot(folder)
    with patch("fewbits.inputs.read", side_effect=KeyboardInterrupt):
        result = run("--overwrite")
    assert result.exit_code == 130
    assert result.stderr == "fewbits: interrupted; b is unchanged\n"
    assert snapshot(folder) == before


def diverged(*options, after):
    """Fit by codes whose weights cease to be finite after so many epochs."""
    pytest.importorskip("torch")
    from fewbits.learners.deep._trainer import Trainer

    with patch.object(Trainer, "_finite", lambda self: len(self.history) < after):
        result = run(*CSQ, *options)
    assert result.stdout == ""
    return result


@pytest.mark.parametrize("options", [(), ("--checkpoint", "c.pt")])
def test_what_was_finite_is_kept_where_no_bundle_was(folder, options):
    result = diverged(*options, after=2)
    assert result.exit_code == 130
    told = "fewbits: interrupted after 2 of 4 iterations: the loss is not finite in epo"
    assert result.stderr.startswith(told)
    assert result.stderr.endswith("; b holds the encoder learnt so far\n")
    summary = Collection.open("b").summary()
    assert summary["interrupted"] == "after 2 iterations"
    assert "loss" not in summary["parameters"]  # the method is named after it
    before = snapshot(folder / "b")
    assert diverged("--overwrite", after=1).stderr.endswith("b is unchanged\n")
    assert snapshot(folder / "b") == before


def test_nothing_finite_in_the_first_epoch(folder):
    result = diverged(after=0)
    assert result.exit_code == 2
    assert result.stderr.startswith("fewbits: error: the loss is not finite in epoch 1")
    assert result.stderr.count("\n") == 1
    assert not (folder / "b").exists()
