"""How many names packages hand out. `test_pages.py` looks for them in the reference."""

import ast
from pathlib import Path

import pytest

import fewbits

SOURCE = Path(fewbits.__file__).parent
#: Every name of `fewbits` is of another package; `fewbits.cli` has a page of its own.
ELSEWHERE = {"fewbits", "fewbits.cli"}


def names_of(path):
    """Return ``__all__`` of a module, without importing it; None where it has none."""
    for line in ast.parse(path.read_text("utf-8")).body:
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "__all__":
            return ast.literal_eval(line.value)
    return None


def public_packages():
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        names = names_of(path)
        if names is not None and not any(part.startswith("_") for part in parts):
            found[".".join(parts)] = names
    return found


PACKAGES = public_packages()


def test_packages_are_found():
    assert {"fewbits", "fewbits.bundle", "fewbits.learners.deep.losses"} < {*PACKAGES}
    assert PACKAGES["fewbits.collection.filters"] == [
        "like_patterns",
        "matching_rows",
        "name_of_type",
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_names_are_public(package):
    names = PACKAGES[package]
    assert len(names) == len({*names})
    private = [name for name in names if name.startswith("_")]
    assert private in ([], ["__version__"])


def test_what_all_need_is_documented_where_it_is_from():
    others = {
        name for package in PACKAGES.keys() - ELSEWHERE for name in PACKAGES[package]
    }
    assert {*PACKAGES["fewbits"]} - {"__version__"} <= others
