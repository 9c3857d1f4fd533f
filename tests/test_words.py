"""The field's words: retired names and phrases occur nowhere, docstrings are plain.

The left column is what a name or phrase was, the right one the term of the field.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RETIRED = {
    r"\bforeign(_| |-)(rate|share|items?|quer(y|ies)|classes)\b": "unknown, OOD",
    r"\b(kept|keeps?|set|sets|put) (\w+ ){0,6}aside\b": "held-out",
    r"validation_base\W{1,5}aside|\baside = ": "held_out",
    r"\bclass Monitor\b": "Evaluator",
    r"\bcodes? that keeps? neighbours\b": "neighbour-preserving codes",
    r"\bhidden_class_rates\b": "leave_one_class_out_rates",
    r"\bfamiliar[_ ]radius\b": "novelty_radius",
    r"\bKnownRegion\b": "AcceptanceRegion",
    r"\bcareful_region\b": "conservative_region",
    r"\bfind_class\b": "search_by_example",
    r"\bfewbits novel\b": "fewbits like",
    r"\bChunkTables\b": "multi-index hashing",
    r"\bdecode_ordered\b|['\"]ordered['\"]|decoder ordered\b": "orbgrand",
    r"\bbudget=": "max_queries",
    r"\bshare_label\b": "same_label",
    r"\blisted\(": "ground_truth",
    r"\bwrong_mixture\b": "threshold_under_prior_shift",
    r"\bfigures_every\b": "eval_every",
    r"\bclass (Terms|Picks)\b": "ControlLoss, ClassTargets",
    r"\bhere\(\)": "current_backend",
    r"\bunheard\b": "no_progress",
    r"\btell_constant_bits\b": "warn_constant_bits",
    r"\bcode_alarms\b": "diagnose_codes",
    r"\bbit_shares\b": "bit_marginals",
    r"\b(cube|ball)_shares\b": "hypercube volume, Hamming-ball volume",
    r"\bUNTYPED\b": "what it means",
    r"\b_first_look\b": "_probe_backbone",
    r"\b(ten nearest|nearest ten)\b(?! \W?(vectors|codes)\b)": "recall@10",
    r"`ordered`": "orbgrand",
    r"`within`": "range_search",
    r"`grows`": "is_nested",
    r"\baccuracy of \d+ votes\b": "k-NN accuracy (k = ...)",
    r"\bcodes of (the |its |their )?classes\b": "class codes",
    r"\b(numbers|vectors) in writing\b": "written as text",
    r"(?<!here\s)\b(is|are) no (finite|real|matri|array|list|text|number)": "is not a",
}
FOLDERS = ("src", "tests", "docs", "research", "benchmarks", "tools")
ENDS = ("py", "pyi", "md", "toml", "j2")
#: These tell of history, and the glossary says what a term replaces.
EXEMPT = (
    "docs/decisions/",
    "research/records/",
    "docs/glossary.md",
    "tests/test_words.py",
)
#: A docstring that begins so is a riddle; say what a function does or a thing is.
RIDDLE = re.compile(r"(What|How|Where|Whether|Which|Why|Tells?|Says?)\b")


@cache
def texts():
    """Return source, tests, studies and pages by their paths from the root."""
    found = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
    for folder in FOLDERS:
        found += [p for end in ENDS for p in ROOT.glob(f"{folder}/**/*.{end}")]
    names = sorted(path.relative_to(ROOT).as_posix() for path in found if path.exists())
    return {
        name: (ROOT / name).read_text("utf-8")
        for name in names
        if not name.startswith(EXEMPT)
    }


def first_lines(source):
    """Yield the first line of each docstring with the line where it stands."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, kinds) and (text := ast.get_docstring(node)):
            yield getattr(node, "lineno", 1), text.splitlines()[0]


def test_texts_are_found():
    names = texts()
    assert {"README.md", "src/fewbits/cli/_search.py"} <= {*names}
    has_claims = any(name.endswith("claims.toml") for name in names)
    assert has_claims == (ROOT / "research").exists()  # not in a source distribution
    assert len(names) > 300


@pytest.mark.parametrize("pattern", RETIRED, ids=RETIRED.values())
def test_a_retired_word_occurs_nowhere(pattern):
    # A phrase may be broken over two lines, of comments too.
    retired = re.compile(pattern.replace(" ", r"(?:\s|\n\s*#:?\s)+"))
    found = [
        f"{name}: {' '.join(match.group().split())!r}"
        for name, text in texts().items()
        for match in retired.finditer(text)
    ]
    assert not found, f"say {RETIRED[pattern]!r}: {found}"


def test_docstrings_begin_with_a_verb_or_a_noun():
    found = [
        f"{name}:{line}: {text}"
        for name, source in texts().items()
        if name.startswith("src/") and name.endswith(".py")
        for line, text in first_lines(source)
        if RIDDLE.match(text)
    ]
    assert not found, "\n".join(found)
