"""The layers of pyproject.toml hold, imports stay light, and nothing unpickles."""

import ast
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS

SOURCE = Path(__file__).parents[1] / "src" / "fewbits"
SERVING = ["codes", "encoders", "index", "store", "collection", "classify"]
SERVING += ["inputs", "client", "integrations.onnx"]
LINT = """
import sys
from importlinter.cli import lint_imports
sys.exit(lint_imports(no_cache=True))
"""


def test_layers():
    """In a process of its own: the linter turns off all loggers that there are."""
    run = subprocess.run([sys.executable, "-c", LINT], check=False)
    assert run.returncode == EXIT_STATUS_SUCCESS


def modules_after(statement):
    code = f"{statement}; import json, sys; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(json.loads(run.stdout))


def test_import_loads_nothing_heavy():
    assert not modules_after("import fewbits") & {"numpy", "sklearn", "torch"}


def test_serving_loads_no_training_library():
    loaded = modules_after("; ".join(f"import fewbits.{name}" for name in SERVING))
    assert not loaded & {"sklearn", "torch", "onnxruntime", "PIL", "matplotlib"}


def test_command_line_help_is_light():
    assert "sklearn" not in modules_after("import fewbits.cli")


@cache
def tree_of(path):
    return ast.parse(path.read_text("utf-8"))


def test_no_pickle():
    banned = {"pickle", "joblib", "dill", "cloudpickle", "marshal", "shelve"}
    parallel = {"joblib", "Parallel", "delayed"}  # processes, and nothing read back
    paths = list(SOURCE.rglob("*.py"))
    assert paths
    for path in paths:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name.split(".")[0] for alias in node.names}
                names.add((getattr(node, "module", None) or "").split(".")[0])
                assert not names & banned or names == parallel, path
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                assert node.value.value is False, path


def imports_of(path):
    """Return what a module imports, by dotted names."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def private_part(name):
    """Return a module of a package up to the first part that is private, or None.

    Modules beside the packages, such as ``fewbits._checks``, belong to all of them.
    """
    parts = name.split(".")
    for i in range(2, len(parts)):
        if parts[0] == "fewbits" and re.match("_(?!_)", parts[i]):
            return ".".join(parts[: i + 1])
    return None


def test_private_modules_are_imported_in_their_package_only():
    found = set()
    for path in SOURCE.rglob("*.py"):
        importer = ("fewbits", *path.relative_to(SOURCE).with_suffix("").parts)
        private = set(map(private_part, imports_of(path))) - {None}
        found |= {
            (".".join(importer), name)
            for name in private
            if name.split(".")[:2] != [*importer[:2]]
        }
    assert not found


@pytest.mark.skipif(not (SOURCE.parents[1] / "research").exists(), reason="no checkout")
def test_slow_tests_exist():
    for name in Path(__file__).with_name("slow.txt").read_text().split():
        path, *functions = name.split("::")
        found = SOURCE.parents[1] / path
        assert found.exists(), name
        assert all(each in found.read_text() for each in functions), name
