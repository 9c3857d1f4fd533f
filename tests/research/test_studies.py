"""Every study runs at a tiny size, writes its page, and is shown."""

import pytest
from typer.testing import CliRunner

from research.__main__ import app
from research.core.runner import run
from research.core.study import PAGES, Study, names


@pytest.mark.filterwarnings("ignore::UserWarning")  # of constant bits
@pytest.mark.parametrize("name", names())
def test_a_tiny_run_measures_every_cell_of_its_grid(name, tmp_path):
    study = Study(name, tmp_path)
    n = run(study.tasks(tiny=True), study.store, report=lambda _: None)
    records = study.store.read()
    assert n == len(records) > 0
    assert {each.key for each in records} == {
        key for task in study.tasks(tiny=True) for key in task.keys
    }
    assert all(each.metrics for each in records)
    assert run(study.tasks(tiny=True), study.store, report=lambda _: None) == 0


@pytest.mark.parametrize("name", names())
def test_the_page_is_that_of_the_records(name, tmp_path):
    path = Study(name).page(tmp_path)
    assert path.read_text("utf-8") == (PAGES / path.name).read_text("utf-8")


def test_show_prints_claims_and_the_tables_that_are_asked_for():
    options = [
        "show",
        "sparse_projections",
        "--only",
        "part=svm",
        "--only",
        "data=icd10",
    ]
    found = CliRunner().invoke(app, options)
    assert found.exit_code == 0
    assert "svm, data=icd10: accuracy" in found.stdout.replace("part=", "")
    assert "data=caltech101-1280: accuracy" not in found.stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["run", "nothing"], "no study 'nothing'; known:"),
        (["run", "sparse_projections", "--only", "bits"], "is not NAME=VALUE"),
    ],
)
def test_a_mistake_gives_one_line(options, says):
    found = CliRunner().invoke(app, options)
    assert found.exit_code == 1
    assert (
        says in str(found.exception.__context__ or found.output) or says in found.output
    )
