"""Test with the lowest versions that are promised: ``python -m tools.lowest``.

Installs the lower bound of every dependency in an environment of its own, beside the
newest versions of what these need, and runs the tests of the command line and of what
reads files there. Torch is left out, because of its size. Takes two minutes, and needs
the network.
"""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "lowest"
EXTRAS = ("text", "onnx", "vision", "classic", "hdf5", "plot", "serve")
#: What the tests need of the extra dev.
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "pandas", "polars", "duckdb")
#: Tests without torch, of what other packages do for fewbits.
TESTS = (
    "tests/cli/test_add.py",
    "tests/cli/test_build.py",
    "tests/cli/test_duplicates.py",
    "tests/cli/test_help.py",
    "tests/cli/test_search.py",
    "tests/collection/test_filters.py",
    "tests/encoders",
    "tests/inputs",
    "tests/integrations",
    "tests/learners/test_common.py",
    "tests/server/test_routes.py",
    "tests/store/test_store.py",
)


def main() -> None:
    """Install, and run the tests given, or those of `TESTS`."""
    uv = [sys.executable, "-m", "uv"]
    subprocess.run(
        [*uv, "venv", "--quiet", "--clear", "--python", sys.executable, FOLDER],
        check=True,
    )
    python = FOLDER / "bin" / "python"
    install = [*uv, "pip", "install", "--quiet", "--python", python]
    lowest = ["--resolution", "lowest-direct", "--only-binary", ":all:"]
    subprocess.run([*install, *lowest, *requirements()], check=True)
    # The compiled kernels do not depend on versions: those of this checkout will do.
    (packages,) = FOLDER.glob("lib/python*/site-packages")
    (packages / "source.pth").write_text(f"{ROOT / 'src'}\n")
    pytest = [python, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal"]
    # Old versions use what newer ones of others deprecate.
    options = ["-p", "no:cacheprovider", "-m", "not slow"]
    options += ["-W", "ignore::DeprecationWarning"]
    tests = sys.argv[1:] or TESTS
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([*pytest, *options, *tests], cwd=ROOT, env=env, check=False)
    sys.exit(done.returncode)


def requirements() -> list[str]:
    """Return what fewbits needs, its extras but torch, and what the tests need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = [x for x in extras["dev"] if x.split(">=")[0] in TOOLS]
    needed += [x for extra in EXTRAS for x in extras[extra]]
    ours = [x for x in needed if not x.startswith("fewbits[")]
    return [*project["dependencies"], *ours]


if __name__ == "__main__":
    main()
