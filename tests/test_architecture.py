"""Imports stay light and within their packages, and nothing unpickles.

That the layers of pyproject.toml hold is checked by `make lint`.
"""

import ast
import contextlib
import importlib
import inspect
import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fewbits

SOURCE = Path(__file__).parents[1] / "src" / "fewbits"
SERVING = ["codes", "encoders", "index", "store", "collection", "classify"]
SERVING += ["inputs", "client", "integrations.onnx"]
#: What each may not load, one imported after the other.
LIGHT = {
    "": {"numpy", "sklearn", "torch"},
    ".datasets": {"PIL", "sklearn", "torch", "pyarrow"},
    ".cli": {"PIL", "sklearn", "torch"},
    **{
        f".{name}": {"sklearn", "torch", "onnxruntime", "PIL", "matplotlib"}
        for name in [*SERVING, "evaluation", "report"]
    },
}
LOADED = """
import importlib, json, sys
for name in json.loads(sys.argv[1]):
    importlib.import_module("fewbits" + name)
    print(json.dumps([name, sorted(sys.modules)]))
"""


def test_imports_load_nothing_heavy():
    command = [sys.executable, "-c", LOADED, json.dumps([*LIGHT])]
    printed = subprocess.check_output(command, text=True)
    for name, loaded in map(json.loads, printed.splitlines()):
        assert not LIGHT.pop(name) & {*loaded}, f"fewbits{name}"
    assert not LIGHT


def test_no_pickle():
    banned = {"pickle", "joblib", "dill", "cloudpickle", "marshal", "shelve"}
    paths = list(SOURCE.rglob("*.py"))
    assert paths
    for path in paths:
        text = path.read_text("utf-8")
        # Processes, of which nothing is read back.
        text = text.replace("from joblib import Parallel, delayed\n", "")
        assert not banned & {*re.findall(r"^ *(?:from|import) (\w+)", text, re.M)}, path
        assert {*re.findall(r"allow_pickle=(\w+)", text)} <= {"False"}, path


def imports_of(path):
    """Return what a module imports, by dotted names."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
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


def public_signatures():
    """Yield the names of what is public, and of its methods, with their signatures."""
    for info in pkgutil.walk_packages(fewbits.__path__, "fewbits."):
        if any(part.startswith("_") for part in info.name.split(".")):
            continue
        module = importlib.import_module(info.name)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            members = inspect.getmembers(value) if inspect.isclass(value) else []
            for inner, member in [("", value), *members]:
                call = getattr(member, "fget", None) or member
                if callable(call) and not inner.startswith("__"):
                    with contextlib.suppress(ValueError, TypeError):
                        yield f"{info.name}.{name}.{inner}", inspect.signature(call)


def test_help_names_types_and_does_not_spell_them_out():
    signatures = {name: str(signature) for name, signature in public_signatures()}
    assert len(signatures) > 1000
    spelt = [x for x, y in signatures.items() if re.search(r"numpy\.(_|ndarray\[)", y)]
    assert not spelt
