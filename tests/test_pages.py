"""Every block of the pages runs, every link leads somewhere, all names are in them."""

import ast
import importlib
import json
import re
from pathlib import Path

import pytest
from typer.main import get_command

import fewbits
from benchmarks import compare_faiss
from fewbits.cli import app
from tests._pages import (
    DOCS,
    README,
    ROOT,
    RUN,
    SHOWN,
    blocks,
    commands,
    compare,
    guides,
    name_of,
    run_page,
)

#: Pages that scripts write.
GENERATED = ("reference/generated/",)
#: Every name of `fewbits` is of another package; `fewbits.cli` has a page of its own.
ELSEWHERE = {"fewbits", "fewbits.cli", "fewbits.store"}  # not for users
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def is_generated(path: Path) -> bool:
    return path.relative_to(DOCS).as_posix().startswith(GENERATED)


def every_page() -> list[Path]:
    """Return the pages that people read, but the generated ones."""
    pages = [page for page in sorted(DOCS.rglob("*.md")) if not is_generated(page)]
    return [README, ROOT / "CONTRIBUTING.md", *pages]


@pytest.mark.filterwarnings("ignore:the collection has no column")
@pytest.mark.parametrize("page", guides(), ids=name_of)
def test_every_block_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEWBITS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("COLUMNS", raising=False)
    run_page(page)


@pytest.mark.parametrize("page", guides(), ids=name_of)
def test_every_block_says_what_it_is_of(page):
    for block in blocks(page):
        known = block.language in (*RUN, *SHOWN) or block.language.startswith("{")
        assert known, f"{name_of(page)}:{block.line} is of {block.language}"


def test_another_output_than_shown_is_found():
    compare("1 ... 3\n", "1 2 3\n", "here")
    with pytest.raises(AssertionError, match="here prints"):
        compare("1 2\n", "1 3\n", "here")


def test_commands_are_told_from_what_they_print():
    text = "$ fewbits fit a.npy \\\n    -o b\nb: done\n$ fewbits inspect b\n"
    assert commands(text) == [
        ("fewbits fit a.npy -o b", "b: done\n"),
        ("fewbits inspect b", ""),
    ]


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and MyST make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    kept = (re.sub(r"[^\w\- ]", "", title.lower()) for title in titles)
    return {title.strip().replace(" ", "-") for title in kept}


@pytest.mark.parametrize("page", every_page(), ids=name_of)
def test_every_link_leads_somewhere(page):
    for link in _LINK.findall(page.read_text("utf-8")):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if DOCS in target.parents and is_generated(target):
            continue
        assert target.exists(), f"{name_of(page)}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{name_of(page)}: {link}"


def test_every_path_in_contributing_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    paths = re.findall(r"`([\w.*/-]+(?:/|\.\w+))`", text)
    named = [path for path in paths if "NAME" not in path and "/" in path]
    files = [path for path in paths if path.endswith((".py", ".pyi", ".cpp"))]
    assert len(named) > 30
    for path in [*named, *files]:
        places = [ROOT / path, ROOT / "src/fewbits" / path]
        there = any(place.exists() for place in places) or (
            any(Path(fewbits.__file__).parent.rglob(path))
            or any((ROOT / "native").rglob(path))
        )
        assert there or "NAME" in path, path


def test_every_name_in_contributing_is_defined():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    names = {
        name
        for name in re.findall(r"`([A-Za-z_][\w.]*)(?:\([^`]*\))?`", text)
        if name != name.lower() or "_" in name
        if not name.endswith((".py", ".md"))
    }
    assert len(names) > 40
    defined = []  # by each file
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        code = path.read_text("utf-8")
        words = re.findall(r"^ *(?:def|class|from .* import) (\w+)", code, re.M)
        words += re.findall(r"^ *(?:self\.)?(\w+)(?:: .*)? \|?= ", code, re.M)
        words += re.findall(r'"(\w+)"', code)  # a column, or a field of a manifest
        defined.append({path.stem, *words})
    for name in names:
        assert any({*name.split(".")} <= words for words in defined), name


def test_every_command_of_fewbits_is_on_a_page():
    shown = {
        command.split()[1]
        for page in guides()
        for block in blocks(page)
        if block.language == "console"
        for command, _ in commands(block.text)
        if command.startswith("fewbits ")
    }
    known = set(get_command(app).commands)
    assert known - {"demo"} <= shown


def test_the_table_of_the_readme_is_what_was_measured():
    report = json.loads(compare_faiss.MEASURED.read_text("utf-8"))
    assert compare_faiss.as_table(report) in README.read_text("utf-8")
    assert f"{report['vectors']:,} embeddings" in README.read_text("utf-8")


def public_names() -> dict[str, list[str]]:
    """Return ``__all__`` of each public package and module that has one."""
    source, names = Path(fewbits.__file__).parent, {}
    for path in source.rglob("*.py"):
        parts = path.relative_to(source.parent).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if any(part.startswith("_") for part in parts):
            continue
        for line in ast.parse(path.read_text("utf-8")).body:
            if ast.unparse(line).startswith("__all__ ="):
                names[".".join(parts)] = ast.literal_eval(line.value)
    return names


def test_every_public_name_is_in_the_reference():
    page = (DOCS / "reference/index.md").read_text("utf-8")
    documented = {line.strip() for line in page.splitlines()}
    packages = public_names()
    assert packages.keys() - ELSEWHERE <= documented
    others = {
        name for package in packages.keys() - ELSEWHERE for name in packages[package]
    }
    assert {*packages["fewbits"]} - {"__version__"} <= others


def test_the_reference_lists_what_is_there():
    page = (DOCS / "reference/index.md").read_text("utf-8")
    for name in re.findall(r"^ +(fewbits\.[\w.]+)$", page, re.MULTILINE):
        importlib.import_module(name)


@pytest.mark.parametrize("folder", ["concepts", "how-to", "papers"])
def test_an_index_links_to_every_page_of_its_folder(folder):
    index = DOCS / folder / "index.md"
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", index.read_text("utf-8")))
    assert linked == {p.name for p in (DOCS / folder).glob("*.md")} - {index.name}
