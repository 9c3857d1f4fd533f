"""What environment variables choose, and that stubs describe the compiled module."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fewbits import _kernels
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError

needs_compiled = pytest.mark.skipif(not _kernels.COMPILED, reason="not compiled")
CODE = """
import numpy as np
from fewbits import _kernels
from fewbits.encoders import LinearEncoder

W = np.random.default_rng(0).normal(size=(30, 20))
codes = LinearEncoder(W, np.zeros(20)).encode(W.T[:3])
print(_kernels.COMPILED, _kernels.active_isa(), _kernels.num_threads(), codes.tolist())
"""


def child(**variables):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("FEWBITS_")}
    return subprocess.run(
        [sys.executable, "-c", CODE],
        env={**kept, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def expected_codes():
    W = np.random.default_rng(0).normal(size=(30, 20))
    return str(LinearEncoder(W, np.zeros(20)).encode(W.T[:3]).tolist())


def outcome(**variables):
    run = child(**variables)
    assert run.returncode == 0, run.stderr
    compiled, isa, threads, codes = run.stdout.strip().split(" ", 3)
    assert codes == expected_codes()
    return compiled == "True", isa, int(threads)


def refusal(**variables):
    run = child(**variables)
    assert run.returncode == 1
    return run.stderr.splitlines()[-1]


def test_reference_kernels_and_a_number_of_threads():
    told = outcome(FEWBITS_KERNELS="reference", FEWBITS_NUM_THREADS="3")
    assert (told[0], told[2]) == (False, 3)


@needs_compiled
def test_native_kernels_of_an_instruction_set():
    told = outcome(FEWBITS_KERNELS="native", FEWBITS_ISA="portable")
    assert told[:2] == (True, "portable")


def test_unknown_kernels():
    message = refusal(FEWBITS_KERNELS="fast")
    assert "must be 'auto', 'native' or 'reference', got 'fast'" in message


@needs_compiled
def test_unknown_instruction_set():
    message = refusal(FEWBITS_ISA="sse9")
    assert "FEWBITS_ISA=sse9 is not one of those that run here" in message
    assert "portable" in message


@pytest.mark.parametrize("asked", ["0", "-1", "two", "1.5"])
def test_no_number_of_threads(asked, monkeypatch):
    monkeypatch.setenv("FEWBITS_NUM_THREADS", asked)
    _kernels.set_num_threads(None)
    message = f"must be a whole number from 1 on, got '{asked}'"
    with pytest.raises(ArgumentError, match=re.escape(message)):
        _kernels.num_threads()


def test_set_num_threads(monkeypatch):
    monkeypatch.setenv("FEWBITS_NUM_THREADS", "5")
    try:
        _kernels.set_num_threads(np.int64(2))
        assert _kernels.num_threads() == 2
        for wrong in (1.5, "2", [1]):
            with pytest.raises(ArgumentError, match="must be a whole number, got"):
                _kernels.set_num_threads(wrong)
        with pytest.raises(ArgumentError, match="at least 1, got 0"):
            _kernels.set_num_threads(0)
        assert _kernels.num_threads() == 2
    finally:
        _kernels.set_num_threads(None)
    assert _kernels.num_threads() == 5


@needs_compiled
def test_stubs_describe_the_compiled_module():
    from fewbits._kernels import _native

    stubs = Path(_kernels.__file__).with_name("_native.pyi").read_text("utf-8")
    defined = {
        node.name: node
        for node in ast.parse(stubs).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    assert set(defined) == {name for name in dir(_native) if name[0] != "_"}
    functions = []
    for name, node in defined.items():
        owner = getattr(_native, name)
        if isinstance(node, ast.ClassDef):
            functions += [(each, getattr(owner, each.name)) for each in node.body]
        else:
            functions.append((node, owner))
    for node, function in functions:
        wanted = [a.arg for a in node.args.args if a.arg != "self"]
        # One signature on a line for each type of array that a kernel takes.
        lines = [line for line in function.__doc__.splitlines() if "(" in line]
        signatures = [line for line in lines if "->" in line]
        assert signatures
        for line in signatures:
            assert re.findall(r"(\w+): ", line) == wanted, node.name
