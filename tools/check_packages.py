"""Check what is published: ``python -m tools.check_packages`` (``make packages``).

The source distribution is unpacked elsewhere; a wheel is built from it and nothing but
it, and passes its tests beside the third-party packages that are installed here. Then
the wheel alone is installed in an empty environment, from which no compiler can be
reached, and runs the demo there. Takes as long as the tests and a few minutes more, and
needs the network.

With ``--quick`` (``make wheel``) the wheel is compiled with less optimisation, its
files are checked, and it is installed and searches a few vectors beside the packages
that are installed here: about half a minute, of which most is the compiler's.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scikit_build_core.build import build_sdist

ROOT = Path(__file__).parents[1]
_KINDS = "*.py", "*.pyi", "py.typed", "*.css"
MAX_BYTES = 2 << 20
IS_COMPILED = "from fewbits._kernels import _native"
#: What `check_wheel` runs, from a user's folder.
COMMANDS = (
    "--help",
    "fit vectors.npy --learner itq --bits 8 -o collection",
    "build collection vectors.npy",
    "search collection --input vectors.npy -k 1 --json",
)


def main(
    tests: Annotated[
        list[str] | None, typer.Argument(help="Tests to run; all when not given.")
    ] = None,
    demo: Annotated[bool, typer.Option(help="Run the demo from the wheel.")] = True,
    quick: Annotated[
        bool, typer.Option("--quick", help="Neither tests nor demo, but a search.")
    ] = False,
) -> None:
    """Build both packages in a temporary folder, and use them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = unpacked(folder)
        # Most of the time is the compiler's.
        quickly = ["--config-settings", "cmake.define.FEWBITS_OPTIMIZATION=-O1"]
        wheel = built(source, folder, quickly if quick else [])
        check_files(wheel)
        if quick:
            check_wheel(wheel, folder)
            return
        check_tests(source, wheel, folder, tests or ["tests"])
        if demo:
            check_demo(wheel, folder)


def unpacked(folder: Path) -> Path:
    """Return the folder of the unpacked source distribution, which is small."""
    os.chdir(ROOT)
    archive = folder / build_sdist(str(folder))
    check_size(archive)
    with tarfile.open(archive) as file:
        file.extractall(folder / "source", filter="data")
    return folder / "source" / archive.name.removesuffix(".tar.gz")


def built(source: Path, folder: Path, options: list[str]) -> Path:
    """Return the wheel that the source distribution builds."""
    wheels = folder / "wheels"
    pip = [sys.executable, "-m", "pip", "--quiet", "wheel", "--no-deps", *options]
    run([*pip, "--wheel-dir", wheels, source], folder)
    (wheel,) = wheels.glob("*.whl")
    check_size(wheel)
    return wheel


def check_size(package: Path) -> None:
    """Refuse a package that is too large."""
    size = package.stat().st_size
    if size >= MAX_BYTES:
        raise SystemExit(f"{package.name} has {size:,} bytes; at most {MAX_BYTES:,}")
    tell(f"{package.name}: {size:,} bytes")


def check_files(wheel: Path) -> None:
    """Refuse a wheel without one of the package's files, or with others."""
    with zipfile.ZipFile(wheel) as file:
        found = {name for name in file.namelist() if ".dist-info/" not in name}
        about = {Path(name).name for name in file.namelist()} - found
    source = ROOT / "src"
    ours = {p for end in _KINDS for p in source.rglob(end)}
    ours |= {p for p in source.glob("fewbits/server/explorer/**/*") if p.is_file()}
    wanted = {path.relative_to(source).as_posix() for path in ours}
    kernels = {name for name in found if name.startswith("fewbits/_kernels/_native.")}
    other = (found ^ wanted) - kernels
    needed = {"LICENSE", "METADATA", "entry_points.txt"} - about
    if other or needed or not any(name.endswith(".so") for name in kernels):
        raise SystemExit(f"{wheel.name}: {sorted(other | needed) or 'no kernels'}")


def check_wheel(wheel: Path, folder: Path) -> None:
    """Search with the wheel where nothing else of this checkout is."""
    python = environment(folder / "quick", with_pip=False)
    # pip of here installs there: a copy of its own takes seconds.
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    run([*pip, "--no-deps", wheel], folder)
    borrow(folder / "quick")
    bare = {**os.environ, "PATH": str(python.parent)}  # no compiler
    run([python, "-c", IS_COMPILED], folder, bare)
    vectors = np.random.default_rng(0).normal(size=(40, 16)).astype(np.float32)
    np.save(folder / "vectors.npy", vectors)
    for command in COMMANDS:
        run([python.parent / "fewbits", *command.split()], folder, bare, quiet=True)
    tell("the wheel searches where it is installed")


def check_tests(source: Path, wheel: Path, folder: Path, tests: list[str]) -> None:
    """Run tests of the unpacked source against the installed wheel."""
    python = environment(folder / "tests")
    run([python, "-m", "pip", "install", "--quiet", "--no-deps", wheel], folder)
    borrow(folder / "tests")
    given = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    pytest = [python, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal"]
    run([*pytest, "-p", "no:cacheprovider", *tests], source, given)
    tell("the source distribution passes its tests")


def check_demo(wheel: Path, folder: Path) -> None:
    """Run the demo where only Python and the wheel are."""
    python = environment(folder / "clean")
    bare = {**os.environ, "PATH": str(python.parent)}  # no compiler
    wanted = f"fewbits[demo] @ {wheel.as_uri()}"
    pip = [python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
    run([*pip, wanted], folder, bare)
    run([python, "-c", IS_COMPILED], folder, bare)
    run([python.parent / "fewbits", "demo"], folder, bare)
    tell("the wheel runs the demo without a compiler")


def environment(folder: Path, *, with_pip: bool = True) -> Path:
    """Return the Python of a new virtual environment."""
    venv.create(folder, with_pip=with_pip)
    return folder / "bin" / "python"


def borrow(folder: Path) -> None:
    """Lend an environment the third-party packages that are installed here.

    Found through a path, they bring no editable fewbits with them.
    """
    here = [path for path in sys.path if path.endswith("site-packages")]
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text("\n".join(here))


def run(
    command: list[Any],
    folder: Path,
    env: dict[str, str] | None = None,
    *,
    quiet: bool = False,
) -> None:
    """Run a command, or end with what it is."""
    out = subprocess.DEVNULL if quiet else None
    if subprocess.run(command, cwd=folder, env=env, check=False, stdout=out).returncode:
        raise SystemExit(f"failed: {' '.join(map(str, command))}")


def tell(text: str) -> None:
    """Say what holds."""
    print(text, flush=True)


if __name__ == "__main__":
    typer.run(main)
