"""Check what is published: ``python -m tools.check_packages`` (``make packages``).

The source distribution is unpacked elsewhere; a wheel is built from it and nothing but
it, and passes its tests beside the third-party packages that are installed here. Then
the wheel alone is installed in an empty environment, from which no compiler can be
reached, and runs the demo there. Takes as long as the tests and a few minutes more, and
needs the network.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path
from typing import Annotated, Any

import typer
from scikit_build_core.build import build_sdist

ROOT = Path(__file__).parents[1]
MAX_BYTES = 2 << 20
IS_COMPILED = "from fewbits._kernels import _native"


def main(
    tests: Annotated[
        list[str] | None, typer.Argument(help="Tests to run; all when not given.")
    ] = None,
    demo: Annotated[bool, typer.Option(help="Run the demo from the wheel.")] = True,
) -> None:
    """Build both packages in a temporary folder, and use them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = unpacked(folder)
        wheel = built(source, folder)
        check_tests(source, wheel, folder, tests or ["tests"])
        if demo:
            check_demo(wheel, folder)


def unpacked(folder: Path) -> Path:
    """Return the folder of the unpacked source distribution, which is small."""
    os.chdir(ROOT)
    archive = folder / build_sdist(str(folder))
    size = archive.stat().st_size
    if size >= MAX_BYTES:
        raise SystemExit(f"{archive.name} has {size:,} bytes; at most {MAX_BYTES:,}")
    with tarfile.open(archive) as file:
        file.extractall(folder / "source", filter="data")
    tell(f"{archive.name}: {size:,} bytes")
    return folder / "source" / archive.name.removesuffix(".tar.gz")


def built(source: Path, folder: Path) -> Path:
    """Return the wheel that the source distribution builds."""
    wheels = folder / "wheels"
    pip = [sys.executable, "-m", "pip", "--quiet", "wheel", "--no-deps"]
    run([*pip, "--no-build-isolation", "--wheel-dir", wheels, source], folder)
    (wheel,) = wheels.glob("*.whl")
    tell(f"{wheel.name}: {wheel.stat().st_size:,} bytes")
    return wheel


def check_tests(source: Path, wheel: Path, folder: Path, tests: list[str]) -> None:
    """Run tests of the unpacked source against the installed wheel."""
    python = environment(folder / "tests")
    run([python, "-m", "pip", "install", "--quiet", "--no-deps", wheel], folder)
    # Found through a path, others' packages bring no editable fewbits with them.
    here = [path for path in sys.path if path.endswith("site-packages")]
    (packages,) = (folder / "tests").glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text("\n".join(here))
    given = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    pytest = [python, "-m", "pytest", "-q", "-n", "auto", "--dist", "loadfile"]
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


def environment(folder: Path) -> Path:
    """Return the Python of a new virtual environment."""
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


def run(command: list[Any], folder: Path, env: dict[str, str] | None = None) -> None:
    """Run a command, or end with what it is."""
    if subprocess.run(command, cwd=folder, env=env, check=False).returncode:
        raise SystemExit(f"failed: {' '.join(map(str, command))}")


def tell(text: str) -> None:
    """Say what holds."""
    print(text, flush=True)


if __name__ == "__main__":
    typer.run(main)
