"""``fewbits export``: the encoder of a collection as an ONNX model."""

import json
import sys

import numpy as np
import onnxruntime
import pytest
from typer.testing import CliRunner

from fewbits._extras import install_hint
from fewbits.cli import app
from fewbits.collection import Collection

X = np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32)


def run(*arguments, **options):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", X)
    assert run("fit", "x.npy", "-o", "b", "-b", 20).exit_code == 0
    return tmp_path


def outputs():
    session = onnxruntime.InferenceSession(
        "out.onnx", providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"features": X})


def test_codes_are_those_of_the_bundle():
    result = run("export", "b", "out.onnx")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "out.onnx: 8 features to 20 bits\n"
    (codes,) = outputs()
    np.testing.assert_array_equal(codes, Collection.open("b").encode(X))


def test_fast_and_scores():
    encoder = Collection.open("b").encoder
    for fast in ([], ["--fast"]):
        result = run("export", "b", "out.onnx", "--scores", "--json", *fast)
        facts = json.loads(result.stdout)
        assert facts == {
            "model": "out.onnx",
            "backbone": None,
            "n_features": 8,
            "n_bits": 20,
            "exact": not fast,
            "fingerprint": encoder.fingerprint,
        }
        _, scores = outputs()
        np.testing.assert_allclose(scores, encoder.project(X), atol=1e-5)


def test_says_what_the_model_lacks(folder):
    (folder / "t.txt").write_text("a cat\na dog\n")
    assert run("fit", "t.txt", "-o", "texts", "-b", 16).exit_code == 0
    shown = run("export", "texts", "o.onnx").stdout
    assert "input is the features of wordllama" in shown


def test_help():
    out = run("export", "--help", env={"COLUMNS": "200", "TERM": "dumb"}).stdout
    assert "Example: fewbits export" in out


def test_mistakes(folder):
    assert run("fit", "x.npy", "-o", "sh", "-m", "sh", "-b", 8).exit_code == 0
    mistakes = {
        "export none out.onnx": "is not a collection",
        "export b out.txt": "models are written to a .onnx file, got out.txt",
        "export b none/out.onnx": "there is no folder none",
        "export b b": "is a folder",
        "export b b/out.onnx": "b is a collection; write models elsewhere",
        "export sh out.onnx": "ONNX models are made of LinearEncoder",
        "export b": "Missing argument",
    }
    before = sorted(folder.rglob("*"))
    for command, message in mistakes.items():
        result = run(*command.split())
        assert (result.exit_code, result.stdout) == (2, ""), command
        assert result.stderr.startswith("fewbits: error: "), command
        assert result.stderr.count("\n") == 1, command
        assert message in result.stderr, (command, result.stderr)
        assert sorted(folder.rglob("*")) == before, command


def test_without_onnx(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    result = run("export", "b", "out.onnx")
    assert (result.exit_code, result.stdout) == (2, "")
    assert install_hint("onnx") in result.stderr
