"""Ctrl-C during ``fit`` and ``build``: one line, exit code 130, and nothing is lost."""

import os
import subprocess
import sys
import warnings
from unittest.mock import patch

import numpy as np
import pytest

import fewbits
from fewbits.collection import Collection
from fewbits.errors import DivergedError, InterruptedWarning
from fewbits.learners import fitting
from tests.cli._calling import invoke, run

FIT = ["fit", "x.npy", "-b", 16, "-o", "b"]
BUILD = ["build", "b", "x.npy", "-b", 16]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32)
    np.save("x.npy", X)
    return tmp_path


def stopped(*words):
    """Return what is said of a command that is interrupted."""
    result = invoke(*words)
    assert (result.exit_code, result.stdout) == (130, "")
    return result.stderr


def interrupted(*words, after=4):
    """Interrupt a fit of nine iterations after some of them."""
    real = fitting.on_progress

    def interrupting(listener, notes):
        def listen(done, total, objective):
            listener(done, total, objective)
            if done == after:
                raise KeyboardInterrupt

        return real(listen, notes)

    with patch("fewbits.learners.fitting.on_progress", interrupting):
        return stopped(*words, "--set", "n_iter=9")


def snapshot(folder):
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


TERMINATED = """
import os, signal, sys
from unittest.mock import patch
from fewbits.cli import main

def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGTERM)

sys.argv = ["fewbits", "fit", "x.npy", "-o", "b"]
with patch("fewbits.collection.fit", kill):
    main()
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGTERM cannot be caught there")
def test_a_job_that_is_ended_is_interrupted():
    command = [sys.executable, "-c", TERMINATED]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    told = "fewbits: interrupted before anything was saved\n"
    assert (found.returncode, found.stdout, found.stderr) == (130, "", told)


@pytest.mark.parametrize("command", [FIT, [*FIT, "--json"], BUILD])
def test_what_was_learnt_is_kept_where_no_collection_was(command):
    told = "fewbits: interrupted after 4 of 9 iterations; b holds the encoder learnt "
    assert interrupted(*command) == f"{told}so far\n"
    kept = Collection.open("b")
    assert kept.summary()["interrupted"] == "after 4 iterations"
    assert len(kept) == 0
    run(*FIT, "--set", "n_iter=4", "--overwrite")
    assert Collection.open("b").encoder.fingerprint == kept.encoder.fingerprint
    assert "interrupted" not in Collection.open("b").summary()


@pytest.mark.parametrize("command", [FIT, BUILD])
def test_a_finished_collection_is_left_as_it_was(folder, command):
    run(*command)
    before = snapshot(folder)
    told = "fewbits: interrupted after 4 of 9 iterations; b is unchanged\n"
    assert interrupted(*command, "--overwrite") == told
    with patch("fewbits.inputs.read", side_effect=KeyboardInterrupt):
        said = stopped(*command, "--overwrite")
    assert said == "fewbits: interrupted; b is unchanged\n"
    assert snapshot(folder) == before


def test_the_same_command_goes_on_from_a_checkpoint():
    run(*FIT, "--set", "n_iter=9")
    whole = Collection.open("b").encoder.fingerprint
    resumable = ["build", "resumed", "x.npy", "-b", 16, "--checkpoint", "c.npz"]
    told = "interrupted after 4 of 9 iterations; the same command resumes from c.npz"
    assert interrupted(*resumable) == f"fewbits: {told}\n"
    run(*resumable, "--set", "n_iter=9")
    assert Collection.open("resumed").encoder.fingerprint == whole


def test_a_checkpoint_of_a_phase_is_told(folder):
    for checkpoint in ("c.pt", "nowhere/c.pt"):
        for begun in (False, True):
            with patch("fewbits.collection.fit", side_effect=KeyboardInterrupt):
                told = stopped(*FIT, "--checkpoint", checkpoint)
            assert ("resumes from" in told) == (begun and checkpoint == "c.pt")
            (folder / "c.pt.codebook").touch()


@pytest.mark.parametrize("options", [(), ("--checkpoint", "c.pt")])
def test_what_was_finite_is_kept_where_no_collection_was(folder, options):
    real = fewbits.fit

    def diverging(source, *, parameters, **arguments):
        made = real(source, **arguments)
        warning = InterruptedWarning("the loss is not finite in epoch 3", 2, 4)
        warning.__cause__ = DivergedError("the loss is not finite in epoch 3")
        warnings.warn(warning, stacklevel=1)
        return made

    with patch("fewbits.collection.fit", diverging):
        told = "interrupted after 2 of 4 iterations: the loss is not finite in epoch 3"
        said = stopped(*FIT, *options)
        assert said == f"fewbits: {told}; b holds the encoder learnt so far\n"
        assert Collection.open("b").summary()["interrupted"] == "after 2 iterations"
        before = snapshot(folder / "b")
        assert stopped(*FIT, "--overwrite", *options).endswith("b is unchanged\n")
    assert snapshot(folder / "b") == before
