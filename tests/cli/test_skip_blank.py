"""Rows without a text: refused with the option that leaves them out."""

import json

import pytest
from typer.testing import CliRunner

from fewbits.cli import app


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.mark.filterwarnings("ignore:.*queries are equal", "ignore:.*left out")
def test_blank_texts_are_skipped_from_fit_to_search(tmp_path, monkeypatch):
    pytest.importorskip("wordllama")
    monkeypatch.chdir(tmp_path)
    rows = ["sku,text,kind", *(f"w{i},word {i},{'ab'[i % 2]}" for i in range(12))]
    rows[2] = "w1,,b"
    (tmp_path / "x.csv").write_text("\n".join(rows))
    text = ["--column", "text"]
    for command in (
        ["fit", "x.csv", *text, "-o", "b", "--bits", "16"],
        ["build", "b", "x.csv", *text, "--id", "sku"],
        ["search", "b", "--input", "x.csv", *text, "-k", "1", "--json"],
    ):
        refused = run(*command)
        assert refused.exit_code == 2, command
        assert "no text in row 1; fill it in" in refused.stderr, command
        assert "(on the command line --skip-blank)" in refused.stderr
        with pytest.warns(UserWarning, match="left out, as column 'text' has no text"):
            done = run(*command, "--skip-blank")
        assert done.exit_code == 0, (command, done.output)
        if command[0] == "fit":
            assert "--skip-blank" in done.stdout.splitlines()[-1]
        if command[0] == "search":
            found = {json.loads(x)["hits"][0]["id"] for x in done.stdout.splitlines()}
            assert found == {f"w{i}" for i in range(12)} - {"w1"}
