"""What is published as source: all that building needs, and little else."""

import tarfile
from pathlib import Path

import pytest
from scikit_build_core.build import build_sdist

import fewbits

ROOT = Path(__file__).parent.parent
#: A source, by its folder, is there whole.
SOURCES = {"src": ("*.py", "*.pyi", "py.typed"), "native": ("*.[ch]pp",)}


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


def test_is_small(archive):
    assert archive.stat().st_size < 2 << 20


def test_has_all_that_building_needs(names):
    needed = {"pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE", "PKG-INFO"}
    for folder, patterns in SOURCES.items():
        for pattern in patterns:
            found = (ROOT / folder).rglob(pattern)
            needed |= {each.relative_to(ROOT).as_posix() for each in found}
    assert names >= {each for each in needed if not each.startswith("native/tests/")}


LEFT_OUT = {"tests", "docs", "experiments", "research", "benchmarks"}


def test_has_no_tests_that_could_not_run(names):
    for name in names:
        assert name.split("/")[0] not in LEFT_OUT
        assert not name.endswith((".svg", ".png", ".jpg", ".jsonl", ".so", ".pyc"))
