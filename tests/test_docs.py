"""The index of the documentation: every page is in it, and every link leads to one."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
INDEX = (DOCS / "README.md").read_text("utf-8")


def test_every_page_is_in_the_index_once():
    pages = [path.relative_to(DOCS).as_posix() for path in DOCS.glob("**/*.md")]
    pages.remove("README.md")
    linked = re.findall(r"\]\(([^)#:]+)\)", INDEX)
    assert len(pages) > 40
    assert sorted(linked) == sorted(pages)


def test_results_are_called_what_they_call_themselves():
    for title, page in re.findall(r"\[([^]]+)\]\((results/[^)]+)\)", INDEX):
        first = (DOCS / page).read_text("utf-8").splitlines()[0]
        assert first == f"# {title}"
