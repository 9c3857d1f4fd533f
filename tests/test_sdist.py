"""What is published as source: all that building and testing needs, and little else."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from scikit_build_core.build import build_sdist

import fewbits

ROOT = Path(__file__).parent.parent
#: A source, by its folder, is there whole.
SOURCES = {
    "src": ("*.py", "*.pyi", "py.typed", "*.js", "*.css", "*.html", "icon.svg"),
    "native": ("*.[ch]pp",),
}
#: What its page is drawn with.
DRAWN = "src/fewbits/server/explorer/icon.svg"
#: Tests of what is measured and written about it, which is not published as source.
LABORATORY = ("tests/benchmarks/", "tests/research/")
PROSE = {"tests/_pages.py", "tests/test_pages.py"}


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return folder / build_sdist(str(folder))


@pytest.fixture(scope="module")
def names(archive):
    with tarfile.open(archive) as file:
        inside = [Path(name) for name in file.getnames()]
    assert {each.parts[0] for each in inside} == {f"fewbits-{fewbits.__version__}"}
    return {each.relative_to(each.parts[0]).as_posix() for each in inside}


def files(folder, *patterns):
    found = (each for pattern in patterns for each in (ROOT / folder).rglob(pattern))
    return {each.relative_to(ROOT).as_posix() for each in found}


def test_is_small(archive):
    assert archive.stat().st_size < 2 << 20


def test_has_all_that_building_needs(names):
    needed = {"pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE", "PKG-INFO"}
    for folder, patterns in SOURCES.items():
        needed |= files(folder, *patterns)
    assert names >= {each for each in needed if not each.startswith("native/tests/")}


def test_has_the_tests_of_the_package(names):
    published = {name for name in names if name.startswith("tests/")}
    whole = {name for name in files("tests", "*.py") if not name.startswith(LABORATORY)}
    kept = files("tests/collection/kept", "*.*")
    assert published == whole - PROSE | kept | {"tests/slow.txt"}


def test_has_nothing_else(names):
    left_out = {"docs", "research", "benchmarks", "tools"}
    for name in names:
        assert name.split("/")[0] not in left_out
        if name != DRAWN:
            assert not name.endswith((".svg", ".png", ".jpg", ".jsonl", ".so", ".pyc"))


BUILD = """
import sys
from scikit_build_core.build import build_wheel
build_wheel(sys.argv[1], {"build-dir": sys.argv[1] + "/build"})
"""


def test_without_a_compiler_a_wheel_has_the_numpy_kernels(archive, tmp_path):
    with tarfile.open(archive) as file:
        file.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    subprocess.run(
        [sys.executable, "-c", BUILD, tmp_path],
        cwd=source,
        env={**os.environ, "CC": "/bin/false", "CXX": "/bin/false"},
        capture_output=True,
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    assert "fewbits/_kernels/_reference.py" in names
    assert not any(name.endswith(".so") for name in names)
