"""The layers of pyproject.toml hold, imports stay light, and nothing unpickles."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

SOURCE = Path(__file__).parents[1] / "src" / "fewbits"
SERVING = ["codes", "encoders", "index", "bundle", "classify", "engine", "inputs"]
SERVING += ["integrations.onnx"]


def test_layers():
    assert lint_imports(no_cache=True) == EXIT_STATUS_SUCCESS


def modules_after(statement):
    code = f"{statement}; import json, sys; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(json.loads(run.stdout))


def test_import_loads_nothing_heavy():
    assert not modules_after("import fewbits") & {"numpy", "sklearn", "torch"}


@pytest.mark.parametrize("name", SERVING)
def test_serving_loads_no_training_library(name):
    loaded = modules_after(f"import fewbits.{name}")
    assert not loaded & {"sklearn", "torch", "onnxruntime", "PIL", "matplotlib"}


def test_command_line_help_is_light():
    assert "sklearn" not in modules_after("import fewbits.cli")


def test_no_pickle():
    banned = {"pickle", "joblib", "dill", "cloudpickle", "marshal", "shelve"}
    parallel = {"joblib", "Parallel", "delayed"}  # processes, and nothing read back
    paths = list(SOURCE.rglob("*.py"))
    assert paths
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name.split(".")[0] for alias in node.names}
                names.add((getattr(node, "module", None) or "").split(".")[0])
                assert not names & banned or names == parallel, path
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                assert node.value.value is False, path
