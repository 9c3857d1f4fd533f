"""``fewbits fit``: checkpoints, devices, kernel maps, and text that is blank."""

import errno
import json
from unittest.mock import patch

import numpy as np
import pytest

from fewbits import datasets
from fewbits.collection import Collection
from fewbits.encoders import KernelMapEncoder
from fewbits.learners import fitting
from tests.cli._calling import fail, invoke, run


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    np.save("x.npy", rng.normal(size=(60, 8)).astype(np.float32))
    shares = rng.dirichlet(np.full(12, 0.5), size=60).astype(np.float32)
    np.save("shares.npy", shares)
    np.save("negative.npy", shares - 0.01)
    return tmp_path


class Killed(Exception):
    pass


def test_goes_on_from_its_checkpoint(folder):
    real = fitting.on_progress

    def killing(listener, notes):
        def listen(done, total, objective):
            listener(done, total, objective)
            if done == 4:
                raise Killed

        return real(listen, notes)

    options = ["fit", "x.npy", "-b", 16, "--set", "n_iter=9"]
    run(*options, "-o", "whole")
    options += ["--checkpoint", "fit.npz", "-o", "resumed"]
    with patch("fewbits.learners.fitting.on_progress", killing):
        assert isinstance(invoke(*options).exception, Killed)
    assert (folder / "fit.npz").exists()
    run(*options)
    assert not (folder / "fit.npz").exists()
    whole, resumed = Collection.open("whole"), Collection.open("resumed")
    assert whole.encoder.fingerprint == resumed.encoder.fingerprint
    assert whole.facts == resumed.facts


def test_what_cannot_be_saved_goes_on_from_its_checkpoint(folder):
    options = ["fit", "x.npy", "-b", "16", "--checkpoint", "fit.npz", "-o", "c"]
    full = OSError(errno.ENOSPC, "No space left on device")
    with patch.object(Collection, "save", side_effect=full):
        assert "No space left" in fail(*options)
    assert (folder / "fit.npz").exists()
    run(*options)
    assert not (folder / "fit.npz").exists()


def test_progress_is_told_now_and_then_where_there_is_no_terminal(monkeypatch):
    options = ["fit", "x.npy", "-b", "16", "--set", "n_iter=3"]
    assert invoke(*options, "-o", "quiet").stderr == ""
    clock = iter(range(0, 10**6, 100))
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    told = invoke(*options, "-o", "c").stderr.splitlines()
    for done, line in enumerate(told, 1):
        assert line.startswith("fewbits: learning, objective ")
        assert line.endswith(f": {done} of 3")
    assert len(told) == 3


def test_on_a_device():
    run("fit", "x.npy", "-b", 16, "-o", "numpy")
    run("fit", "x.npy", "-b", 16, "-o", "torch", "--device", "cpu")
    numpy, torch = (Collection.open(name).encoder for name in ("numpy", "torch"))
    np.testing.assert_allclose(torch.weights, numpy.weights, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kernel", ["intersection", "chi2", "js"])
def test_a_kernel_map(kernel):
    out = run("fit", "shares.npy", "-o", "c", "-b", 32, "--kernel-map", kernel)
    assert "KernelMapEncoder(12 -> 32 bits)" in out
    run("build", "c", "shares.npy")
    opened = Collection.open("c")
    assert isinstance(opened.encoder, KernelMapEncoder)
    assert opened.encoder.map.kernel == kernel
    out = run("search", "c", "-i", "shares.npy", "-k", 1, "--json")
    for line in out.splitlines():
        assert json.loads(line)["hits"][0]["distance"] == 0
    assert (opened.facts.method, opened.facts.kernel_map) == ("itq", kernel)
    assert "Negative values" in fail("encode", "c", "negative.npy", "-o", "codes.npy")
    said = fail("fit", "negative.npy", "-o", "n", "--kernel-map", kernel)
    assert "a kernel map takes features of at" in said


def test_zeros_and_ones_that_collapse_to_two_codes_are_told():
    np.save("x.npy", np.repeat(np.eye(2, 8, dtype=np.float32), 60, axis=0))
    with pytest.warns() as told:
        invoke("fit", "x.npy", "-o", "b", "-b", "16")
    said = " ".join(str(warning.message) for warning in told)
    assert "in one direction only" in said
    assert "100% of the items share their code" in said


@pytest.mark.filterwarnings("ignore:.*queries are equal", "ignore:.*left out")
def test_blank_texts_are_skipped_from_fit_to_search(folder):
    pytest.importorskip("wordllama")
    rows = ["sku,text,kind", *(f"w{i},word {i},{'ab'[i % 2]}" for i in range(12))]
    rows[2] = "w1,,b"
    (folder / "x.csv").write_text("\n".join(rows))
    text = ["--column", "text"]
    for command in (
        ["fit", "x.csv", *text, "-o", "b", "--bits", "16"],
        ["build", "b", "x.csv", *text, "--id", "sku"],
        ["search", "b", "--input", "x.csv", *text, "-k", "1", "--json"],
    ):
        assert "no text in row 1; fill it in" in fail(*command)
        with pytest.warns(UserWarning, match="left out, as column 'text' has no text"):
            done = invoke(*command, "--skip-blank")
        assert done.exit_code == 0, (command, done.output)
        if command[0] == "fit":
            assert "--skip-blank" in done.stdout.splitlines()[-1]
        if command[0] == "search":
            found = {json.loads(x)["hits"][0]["id"] for x in done.stdout.splitlines()}
            assert found == {f"w{i}" for i in range(12)} - {"w1"}


def test_data_is_listed(monkeypatch):
    assert "digits" in run("data", "list")
    assert json.loads(run("data", "list", "--json"))[0]["name"] == "digits"


def test_data_is_exported(folder):
    out = run("data", "export", "digits", "digits.npz")
    assert "digits.npz: 1,797 vectors, with labels class" in out
    command = out.splitlines()[1].removeprefix("next: fewbits ")
    assert command == "build my-collection digits.npz --column vector"
    run(*command.split(), "-b", 8)
    out = run("data", "export", "digits", "v.npy")
    assert "next: fewbits build my-collection v.npy" in out
    assert "note: a .npz file would hold the labels too (class)" in out
    (folder / "mine.npy").write_text("mine")
    assert "mine.npy exists" in fail("data", "export", "digits", "mine.npy")
    run("data", "export", "digits", "mine.npy", "--overwrite")
    assert np.load("mine.npy").shape == datasets.load("digits").items.shape


def test_queries_are_left_out_of_exported_data(folder):
    out = run("data", "export", "digits", "v.npy", "--queries", "a.npy")
    assert out.splitlines()[:2] == ["v.npy: 1,618 vectors", "a.npy: 179 vectors"]
    run("fit", "v.npy", "-b", 8, "-o", "new")
    run("evaluate", "new", "a.npy", "v.npy")
    with pytest.warns(UserWarning, match="1,618 of 1,618 queries are equal"):
        invoke("evaluate", "new", "v.npy", "v.npy")
    (folder / "sub").mkdir()
    for queries in ("w.npy", "sub/../w.npy"):
        said = fail("data", "export", "digits", "w.npy", "--queries", queries)
        assert "need two files" in said
    fail("data", "export", "digits", "w.npy", "--queries", "a.npy")
    assert not (folder / "w.npy").exists()
