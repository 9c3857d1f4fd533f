"""The files of the page: no build step, nothing from elsewhere, nothing inline."""

import re
from pathlib import Path

import pytest

import fewbits.server

FOLDER = Path(fewbits.server.__file__).parent / "explorer"
SCRIPTS = sorted(FOLDER.rglob("*.js"))
IMPORT = re.compile(r'^(?:import|export) [^;]*?from "([^"]+)";', re.MULTILINE)


def name_of(path):
    return path.relative_to(FOLDER).as_posix()


def test_the_page_has_no_script_or_style_of_its_own():
    page = (FOLDER / "index.html").read_text("utf-8")
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", page)
    for script in re.findall(r"<script\b[^>]*>(.*?)</script>", page, re.DOTALL):
        assert script == ""


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_modules_import_files_that_are_there(path):
    text = path.read_text("utf-8")
    for name in IMPORT.findall(text):
        assert name.startswith(("./", "../")), name
        assert (path.parent / name).resolve().is_file(), name


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_modules_are_small_and_make_no_markup_of_texts(path):
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= 300
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|eval\(|Function\(", text
    )


def test_all_modules_are_asked_for_at_once():
    page = (FOLDER / "index.html").read_text("utf-8")
    named = re.findall(r'<link rel="modulepreload" href="([^"]+)">', page)
    named += re.findall(r'<script[^>]* src="([^"]+)">', page)
    assert sorted(named) == sorted(map(name_of, SCRIPTS))


def test_names_that_are_imported_are_exported():
    for path in SCRIPTS:
        for names, source in re.findall(
            r'^import \{([^}]*)\} from "([^"]+)";', path.read_text("utf-8"), re.M
        ):
            exported = (path.parent / source).resolve().read_text("utf-8")
            for name in (each.split(" as ")[0].strip() for each in names.split(",")):
                assert not name or re.search(
                    rf"export (?:async )?(?:const|function|class) {name}\b", exported
                ), f"{name_of(path)}: {name} of {source}"


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_names_that_are_imported_are_used(path):
    text = path.read_text("utf-8")
    for names in re.findall(r"^import \{([^}]*)\} from", text, re.M):
        for each in filter(None, (name.strip() for name in names.split(","))):
            name = each.split(" as ")[-1]
            assert len(re.findall(rf"\b{name}\b", text)) > 1, name


def test_no_file_speaks_to_others():
    for path in FOLDER.rglob("*"):
        if path.is_file():
            found = re.findall(r"https?://[^\s\"'`)]+", path.read_text("utf-8"))
            assert set(found) <= {"http://www.w3.org/2000/svg"}, name_of(path)


def test_every_colour_is_one_of_the_theme():
    themed = (FOLDER / "style/base.css").read_text("utf-8")
    known = set(re.findall(r"^\s*(--[\w-]+):", themed, re.MULTILINE))
    local = {"--share", "--part", "--hue", "--shade"}
    for path in FOLDER.rglob("*.css"):
        used = set(re.findall(r"var\((--[\w-]+)", path.read_text("utf-8")))
        assert used <= known | local, name_of(path)
