"""JSON lines are what Python's `json` reads, or are refused."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fewbits import inputs
from fewbits.errors import ArgumentError, ArtefactError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.jsonl"


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
VALUES = st.one_of(
    st.lists(st.none() | TEXT),
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)),
    st.lists(st.none() | st.floats(allow_nan=False)),
    st.lists(st.none() | st.booleans()),
    st.lists(st.none() | st.lists(st.floats(allow_nan=False), max_size=3)),
    st.lists(st.none() | st.fixed_dictionaries({"x": st.integers(0, 5)})),
)


@settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    kept=VALUES,
    escaped=st.booleans(),
    ends=st.sampled_from(["\n", "\r\n"]),
    above=st.sampled_from([0, 0, 0, 4094, 4096]),
)
def test_any_values(path, kept, escaped, ends, above):
    rows = [{"text": "word"}] * above  # 4,096 are looked at together
    rows += [{"text": "word", "kept": value} for value in [*kept, None]]
    lines = [json.dumps(row, ensure_ascii=escaped) for row in rows]
    path.write_text(ends.join(lines), "utf-8", newline="")
    found = inputs.read(path, column="text", columns=["kept"])
    assert found.values == ["word"] * len(rows)
    expected = [json.loads(line).get("kept") for line in lines]
    assert found.columns["kept"].to_pylist() == expected


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['{"a": 1}', "[1]"], "needs objects with keys, .* line 2 is a list"),
        (['{"a": "x"}', "{"], "is not JSON in line 2: Expecting"),
        (['[{"a": 1},', '{"a": 2}]'], "in line 1: .*a list of objects is not JSON li"),
        (['{"a": "x", "a": "y"}'], "in line 1: the key 'a' is given twice"),
        (['{"a": "x"}', "{}"], "line 2 is empty"),
        (
            ['{"a": "x"}', '{"a": 5}'],
            "'a' values of several types",
        ),
        (
            ['{"a": 1.5}', '{"a": true}'],
            "several types, .*truth values among num",
        ),
        (['{"a": [1.5]}', '{"a": [true]}'], "several types, .*truth values among num"),
        (['{"a": {"b": 1.5}}', '{"a": {"b": true}}'], "truth values among numbers"),
        ([f'{{"a": {2**53 + 1}}}', '{"a": 0.5}'], "several types"),
        ([f'{{"a": {2**64}}}'], "several types"),
        (['{"a": "\\ud800"}'], "half a surrogate pair as 'a' in lines 1 to 1"),
        (['{"a": 9007199254740993.0}'], "no float of 64 bits"),
        (["[" * 100_000], "is not JSON in line 1"),
        ([b'{"text": "caf\\xe9"}'.decode("unicode_escape")], "not JSON in line"),
    ],
)
@pytest.mark.parametrize("apart", [False, True])
def test_what_is_refused(path, lines, said, apart):
    if apart:  # lines that are not looked at together
        lines = [lines[0], *['{"b": 1}'] * 4096, *lines[1:]]
        said = "x.jsonl"
    path.write_text("\n".join(lines), "latin-1")
    with pytest.raises((ArtefactError, ArgumentError), match=said) as caught:
        inputs.read(path, column="a")
    assert "\n" not in str(caught.value)


def test_vectors_and_missing_keys(path):
    path.write_text(
        '\ufeff{"v": [1, 2.5], "y": "a"}\n{"y": "b", "v": [3, 4]}\n', "utf-8"
    )
    found = inputs.read(path, column="v", label="y")
    np.testing.assert_array_equal(found.values, [[1, 2.5], [3, 4]])
    assert found.labels.tolist() == ["a", "b"]
    path.write_text('{"v": [1], "y": "a"}\n{"v": [2]}\n')
    with pytest.raises(
        ArgumentError, match="missing in 1 of 2 rows: got None in row 1"
    ):
        inputs.read(path, column="v", label="y")


def test_blank_lines_are_told(path):
    path.write_text('\n{"t": "a"}\n \r\n{"t": "b"}\n\n\n')
    with pytest.warns(
        UserWarning, match="2 blank lines left out; ids count the others"
    ):
        assert inputs.read(path).values == ["a", "b"]


def test_digits_in_quotes_stay_texts(path):
    path.write_text('{"t": "one", "code": "007"}\n{"t": "two", "code": "1e5"}\n')
    found = inputs.read(path, column="t", id="code")
    assert found.ids.to_pylist() == ["007", "1e5"]
