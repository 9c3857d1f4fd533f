"""A command imports what it uses, and nothing else that takes its time."""

import json
import subprocess
import sys
from importlib.metadata import packages_distributions

import numpy as np
import pytest

from fewbits.collection import Collection
from fewbits.learners.deep import DeepHash

RUN = """
import json, sys
before = {*sys.modules}
from fewbits.cli import main
path, *sys.argv[1:] = sys.argv[1:]
try:
    main()
finally:
    with open(path, "w") as file:
        json.dump(sorted({*sys.modules} - before), file)
"""
# Typer, and what it imports by itself in one version or another.
PRINTING = {"typer", "click", "rich", "shellingham", "annotated_doc", "pygments"}
PRINTING |= {"markdown_it", "mdurl", "pydantic", "pydantic_core", "annotated_types"}
PRINTING |= {"typing_inspection", "typing_extensions"}
# Arrow looks for cloudpickle and dateutil, sqlglot for mypy_extensions.
DATA = {"numpy", "pyarrow", "cloudpickle", "dateutil", "safetensors", "platformdirs"}
SQL = {"sqlglot", "mypy_extensions"}
INNER = {"_arrow", "_kernels", "backbones", "collection", "cli", "codes", "classify"}
INNER |= {"encoders", "engine", "filters", "index", "inputs", "ood", "store"}
HEAVY = {"asyncio", "http", "multiprocessing", "sqlite3", "ssl", "unittest", "xml"}
#: What each command may import of others, and of fewbits' packages.
ALLOWED = {
    "--help": (PRINTING, {"cli"}),
    "search": (PRINTING | DATA, INNER),
    "search --filter": (PRINTING | DATA | SQL, INNER),
    "encode": (PRINTING | DATA, INNER),
    "classify": (PRINTING | DATA, INNER),
    "recall": (PRINTING | DATA, INNER | {"evaluation"}),
    "search text": (PRINTING | DATA | {"tokenizers"}, INNER),
}
rng = np.random.default_rng(0)
X = rng.normal(size=(20, 8)).astype(np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("imports")
    y = np.repeat(["ant", "bee"], 10)
    learner = DeepHash(8, random_state=0).fit(X, y)
    encoder = Collection.from_learner(learner, X, y)
    options = {"encoder": encoder, "columns": {"year": [*range(20)]}}
    Collection.create(folder / "b", X, **options)
    np.save(folder / "q.npy", X[:2])
    np.save(folder / "x.npy", X)
    return folder


@pytest.fixture(scope="module")
def texts(folder):
    pytest.importorskip("wordllama")
    Collection.create(folder / "t", ["a cat", "a dog", "a bee"], bits=8)
    return folder / "t"


def imported(folder, *arguments):
    """Return what a command imports, by its dotted names."""
    told = folder / "modules.json"
    command = [sys.executable, "-c", RUN, told, *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(told.read_text())


def unwanted(modules, command):
    """Return what a command may not import: packages of others, and of fewbits."""
    others, inner = ALLOWED[command]
    distributions = packages_distributions()  # extensions add modules of no package
    packages = {name.split(".")[0] for name in modules}
    found = {name for name in packages if name in distributions} - others - {"fewbits"}
    ours = {name.split(".")[1] for name in modules if name.startswith("fewbits.")}
    folders = {name for name in ours if f"fewbits.{name}._" in " ".join(modules)}
    return sorted(
        found | (packages & HEAVY) | {f"fewbits.{n}" for n in folders - inner}
    )


def check(folder, command, *arguments):
    modules = imported(folder, *arguments)
    extra = unwanted(modules, command)
    assert not extra, f"'fewbits {command}' imports {', '.join(extra)}: see ALLOWED"
    return modules


def test_help(folder):
    check(folder, "--help", "--help")


def test_search(folder):
    check(folder, "search", "search", folder / "b", "-i", folder / "q.npy")


def test_search_with_a_filter(folder):
    queries = ["-i", folder / "q.npy", "--filter", "year > 3 and bit(1) = 1"]
    check(folder, "search --filter", "search", folder / "b", *queries)


def test_search_for_a_text(folder, texts):
    modules = check(folder, "search text", "search", texts, "a mouse")
    assert "pyarrow.compute" not in modules  # 0.05 s


def test_encode(folder):
    out = ["-o", folder / "codes.npy"]
    check(folder, "encode", "encode", folder / "b", folder / "q.npy", *out)


def test_classify(folder):
    check(folder, "classify", "classify", folder / "b", "-i", folder / "q.npy")


def test_recall(folder):
    vectors = ["--vectors", folder / "x.npy", "-k", "3"]
    check(folder, "recall", "recall", folder / "b", *vectors)


def test_what_is_unwanted_is_told():
    modules = ["numpy.linalg", "scipy.fft", "fewbits.report._page", "xml.dom"]
    found = unwanted(modules, "search")
    assert found == ["fewbits.report", "scipy", "xml"]
