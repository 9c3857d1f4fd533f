"""``fewbits fit --kernel-map``, and the commands on what it makes."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from fewbits.bundle import Bundle
from fewbits.cli import app
from fewbits.encoders import KernelMapEncoder

X = np.random.default_rng(0).dirichlet(np.full(12, 0.5), size=60).astype(np.float32)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", X)
    np.save("negative.npy", X - 0.01)
    return tmp_path


@pytest.mark.parametrize("kernel", ["intersection", "chi2", "js"])
def test_bundle_works(kernel):
    fit = run("fit", "x.npy", "-o", "b", "-b", 32, "--kernel-map", kernel)
    assert (fit.exit_code, fit.stderr) == (0, "")
    assert "KernelMapEncoder(12 -> 32 bits)" in fit.stdout
    assert run("build", "b", "x.npy").exit_code == 0
    assert run("encode", "b", "x.npy", "-o", "codes.npy").exit_code == 0
    encoder = Bundle.load("b").encoder
    assert isinstance(encoder, KernelMapEncoder)
    assert encoder.map.kernel == kernel
    np.testing.assert_array_equal(np.load("codes.npy"), encoder.encode(X))
    found = run("search", "b", "-i", "x.npy", "-k", 1, "--json").stdout.splitlines()
    assert all(json.loads(line)["hits"][0]["distance"] == 0 for line in found)
    facts = json.loads(run("inspect", "b", "--json").stdout)
    assert (facts["method"], facts["kernel_map"]) == ("itq", kernel)
    assert facts["parameters"]["n_bits"] == 32


def test_mistakes(folder):
    run("fit", "x.npy", "-o", "b", "-b", 16, "--kernel-map", "chi2")
    mistakes = {
        "fit negative.npy -o n --kernel-map js": "a kernel map takes features of at",
        "fit x.npy -o n --kernel-map rbf": "no kernel map 'rbf'; known are",
        "fit x.npy -o n --kernel-map chi2 -b 0": "n_bits must be",
        "build b negative.npy": "Negative values in data",
        "encode b negative.npy -o codes.npy": "Negative values in data",
    }
    for command, message in mistakes.items():
        result = run(*command.split())
        assert (result.exit_code, result.stdout) == (2, ""), command
        assert result.stderr.startswith("fewbits: error: "), command
        assert result.stderr.count("\n") == 1, command
        assert message in result.stderr, command
        assert not (folder / "n").exists(), command
        assert not (folder / "codes.npy").exists(), command
