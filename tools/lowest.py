"""Test with the lowest versions that are promised: ``python -m tools.lowest``.

Installs the lower bound of every dependency in an environment of its own, beside the
newest versions of what these need, and runs the tests of the command line and of what
reads files there. Torch is left out, because of its size. Takes a few minutes,
each step a quarter of an hour at most, and needs the network.
"""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "lowest"
EXTRAS = ("text", "onnx", "vision", "hdf5", "plot", "serve")
LONGEST = 900  # seconds of each step
#: What the tests need, at any version that suits the others.
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "pandas", "polars", "duckdb")
#: Tests without torch, of what other packages do for fewbits.
TESTS = (
    "tests/cli/test_add.py",
    "tests/cli/test_build.py",
    "tests/cli/test_help.py",
    "tests/cli/test_search.py",
    "tests/collection/test_filters.py",
    "tests/inputs/test_arrow_types.py",
    "tests/inputs/test_csv.py",
    "tests/inputs/test_json_lines.py",
    "tests/inputs/test_objects.py",
    "tests/inputs/test_vector_files.py",
    "tests/integrations",
    "tests/learners/test_itq.py",
    "tests/learners/test_simple.py",
    "tests/server/test_routes.py",
    "tests/store/test_store.py",
)
#: What needs the weights of torch, newer types of Parquet, or a newer checker of ONNX.
WITHOUT = (
    "not image and not every_encoding and not lists_of_every_kind "
    "and not another_runtime and not next_command_works and not again_is_accepted"
)


def main() -> None:
    """Install, and run the tests given, or those of `TESTS`."""
    uv = [sys.executable, "-m", "uv"]
    subprocess.run(
        [*uv, "venv", "--quiet", "--clear", "--python", sys.executable, FOLDER],
        check=True,
        timeout=LONGEST,
    )
    python = FOLDER / "bin" / "python"
    pip, wheels = [*uv, "pip"], ["--quiet", "--only-binary", ":all:"]
    there, frozen = ["--python", python], FOLDER / "frozen.txt"
    lowest = ["--resolution", "lowest-direct", *requirements()]
    install = [*pip, "install", *there, *wheels]
    subprocess.run([*install, *lowest], check=True, timeout=LONGEST)
    with frozen.open("w") as file:
        subprocess.run([*pip, "freeze", *there], check=True, stdout=file)
    beside = ["--constraint", frozen, *TOOLS]
    subprocess.run([*install, *beside], check=True, timeout=LONGEST)
    # The compiled kernels do not depend on versions: those of this checkout will do.
    (packages,) = FOLDER.glob("lib/python*/site-packages")
    (packages / "source.pth").write_text(f"{ROOT / 'src'}\n")
    pytest = [python, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal"]
    # Old versions use what newer ones of others deprecate.
    options = ["-p", "no:cacheprovider", "-W", "ignore::DeprecationWarning"]
    options += ["-m", "not slow", "-k", WITHOUT]
    tests = sys.argv[1:] or TESTS
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [*pytest, *options, *tests]
    done = subprocess.run(command, cwd=ROOT, env=env, check=False, timeout=LONGEST)
    sys.exit(done.returncode)


def requirements() -> list[str]:
    """Return what fewbits and its extras need, but torch."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    several = [x for extra in EXTRAS for x in extras[extra]]
    ours = [x for x in several if not x.startswith("fewbits[")]
    return [*project["dependencies"], *ours]


if __name__ == "__main__":
    main()
