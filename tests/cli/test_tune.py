"""``fewbits tune``, and ``fewbits fit --config`` with what it writes."""

import io
import json
import sys
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import rich.console
from sklearn.datasets import load_digits
from typer.testing import CliRunner

from fewbits.cli import _progress, app
from fewbits.cli._tuning_report import refuse_unreached
from fewbits.errors import ArgumentError
from fewbits.training import tuning
from fewbits.training.tuning import (
    _candidates,
    _finals,
    _race,
    _trial,
    _tune,
    _wanted,
)
from fewbits.training.tuning._variants import VARIANTS

X, y = load_digits(return_X_y=True)
FEW = ["-m", "lsh", "-m", "hadamard", "-b", 16, "-b", 32]
AGAIN = ["--json", "--overwrite"]


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def run(*arguments):
    result = invoke(*arguments)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", X[:1000].astype(np.float32))
    np.save("new.npy", X[1000:1020].astype(np.float32))
    np.savez("d.npz", x=X[:1000].astype(np.float32), y=y[:1000])
    np.savez("one.npz", x=X[:1000].astype(np.float32), y=np.ones(1000, int))
    return tmp_path


def test_from_vectors_to_a_search(folder):
    out = run("tune", "x.npy", "--bytes", 4, "-o", "t.json", "--plot", "p.svg", *FEW)
    assert "recall@10 against bytes per item" in out
    assert "on held-out test queries" in out
    assert "next: fewbits fit x.npy -o my-bundle --config t.json" in out
    assert "<svg" in (folder / "p.svg").read_text()
    chosen = json.loads((folder / "t.json").read_text())
    assert chosen["measured"]["measure"] == "recall@10"
    assert chosen["measured"]["chosen"].startswith(f"{chosen['method']}, 32 bits, ")
    run("fit", "x.npy", "--config", "t.json", "-o", "b")
    run("build", "b", "x.npy")
    kept = json.loads(run("inspect", "b", "--json"))
    assert (kept["method"], kept["n_bits"]) == (chosen["method"], 32)
    assert kept["shortlist"] == chosen["shortlist"]
    asked = ["search", "b", "-i", "x.npy", "--json"]
    assert run(*asked) == run(*asked, "--rerank") != run(*asked, "--no-rerank")
    report = json.loads(run("evaluate", "b", "new.npy", "x.npy", "--json"))
    again = f"32 bits, {chosen['shortlist']} re-ranked by scores"
    assert report["comparison"][-1]["name"] == again
    run("fit", "x.npy", "--config", "t.json", "-b", 8, "-m", "lsh", "-o", "c")
    kept = json.loads(run("inspect", "c", "--json"))
    assert (kept["method"], kept["n_bits"]) == ("lsh", 8)


def test_as_json_and_again_from_what_was_measured(folder):
    given = ["tune", "x.npy", "--bytes", 4, "-o", "t.json", "--json", *FEW]
    first = json.loads(run(*given))
    kept = (folder / "t.measurements.jsonl").read_text()
    assert json.loads(run(*given, "--overwrite"))["best"] == first["best"]
    assert (folder / "t.measurements.jsonl").read_text() == kept
    assert first["frontier"][0]["bytes_per_item"] == 2
    assert first["too_long"] == []


def test_a_length_that_takes_too_many_bytes_is_named():
    given = ["tune", "x.npy", "--bytes", 2, "-o", "t.json", *FEW]
    assert "note: not tried: 32 bits take more than 2 bytes" in run(*given)
    assert json.loads(run(*given, *AGAIN))["too_long"] == [32]
    given = ["tune", "x.npy", "--bytes", 1, "-o", "u.json", "-m", "threshold"]
    assert "64 bits take more than 1 byte" in run(*given, "-m", "lsh")


def test_what_there_was_no_time_for_is_told():
    given = ["tune", "x.npy", "--bytes", 4, "-o", "t.json", *FEW]
    assert "time was up" not in run(*given)
    late = [*given, "--measurements", "other.jsonl", "--minutes", 1e-9]
    told = run(*late, "--overwrite")
    assert "note: time was up before 2 more were measured: " in told
    assert ": hadamard (16, 32 bits); run again to resume, with more --min" in told
    assert "--minutes and --overwrite" in told
    assert json.loads(run(*late, *AGAIN))["untried"] == 2


def test_bits_that_tell_nothing_are_told():
    """Of the pixels some are white in every digit."""
    given = ["tune", "x.npy", "--bytes", 8, "-o", "t.json", "-m", "threshold"]
    assert "bits are constant over all items" in run(*given)
    assert json.loads(run(*given, *AGAIN))["reported"]["n_constant_bits"] > 0
    given = ["tune", "x.npy", "--bytes", 4, "-o", "u.json", *FEW]
    assert "constant over all items" not in run(*given)


def test_the_choice_is_in_the_table(monkeypatch):
    monkeypatch.setattr(_tune, "frontier", lambda measured, target: [])
    lines = run("tune", "x.npy", "--bytes", 4, "-o", "t.json", *FEW).splitlines()
    assert sum("*" in line for line in lines) == 1


def test_labels():
    given = ["d.npz", "--column", "x", "--labels", "y", "-o", "t.json", *FEW]
    assert "map against bytes" in run("tune", *given, "--bytes", 2)
    given += ["--overwrite", "--measurements", "a.jsonl"]
    out = run("tune", *given, "--accuracy", 0.5)
    assert "accuracy@10" in out


def test_a_deep_choice_is_fitted(folder):
    pytest.importorskip("torch")
    given = ["d.npz", "--column", "x", "--labels", "y"]
    run("tune", *given, "-m", "lsh", "-b", 16, "--bytes", 2, "-o", "t.json", *FEW)
    chosen = json.loads((folder / "t.json").read_text()) | {"method": "csq"}
    chosen["parameters"] = {
        **VARIANTS["csq"]["predictable centres"],
        "network.hidden": [8],
    }
    (folder / "t.json").write_text(json.dumps(chosen))
    run("fit", *given, "--config", "t.json", "-o", "b")
    kept = json.loads(run("inspect", "b", "--json"))
    assert (kept["method"], kept["n_bits"]) == ("csq", 16)
    assert kept["parameters"].items() >= chosen["parameters"].items()


def test_what_needs_torch_is_named_where_there_is_none(monkeypatch):
    monkeypatch.setattr(_candidates, "has_torch", lambda: False)
    given = ["d.npz", "--column", "x", "--labels", "y", "-o", "t.json", "-b", 16]
    out = run("tune", *given, "--bytes", 2, "--minutes", 1e-9)
    assert "note: not tried: csq, dch, llc need torch: pip install" in out
    given += ["--bytes", 2, "-m", "lsh", "--overwrite"]
    assert "need torch" not in run("tune", *given)


def test_lengths_are_chosen_without_torch(monkeypatch):
    monkeypatch.setattr(_candidates, "has_torch", lambda: False)
    monkeypatch.setitem(sys.modules, "fewbits.learners.deep", None)
    out = run("tune", "x.npy", "-o", "t.json", "--bytes", 2, *FEW)
    assert "t.json: " in out
    given = ["d.npz", "--column", "x", "--labels", "y", "-o", "u.json", "-b", 16]
    assert "u.json: " in run("tune", *given, "--bytes", 2, "--minutes", 1e-9)


def test_what_cannot_be_reached_writes_no_configuration(folder):
    found = invoke(
        "tune", "x.npy", "--recall", 0.99, "--bytes", 2, "-o", "t.json", *FEW
    )
    assert found.exit_code == 2
    assert "error: nothing reaches a recall of 0.99 with 2 bytes" in found.stderr
    assert "the closest is" in found.stderr
    assert found.stderr.count("\n") == 1
    assert not (folder / "t.json").exists()
    run("tune", "x.npy", "--bytes", 2, "-o", "t.json", *FEW)
    before = (folder / "t.json").read_bytes()
    given = ["--recall", 0.99, "--bytes", 2, "--encode-us", 90, "-o", "t.json", *FEW]
    found = invoke("tune", "x.npy", *given, *AGAIN)
    assert "0.99 with 2 bytes per item and 90 microseconds to encode" in found.stderr
    assert found.stderr.endswith("; t.json is as it was\n")
    assert json.loads(found.stdout)["configuration_file"] is None
    assert (folder / "t.json").read_bytes() == before


def test_lengths_without_axes_are_named():
    given = ["--bytes", 16, "-o", "t.json", "-m", "pcah", "-b", 16, "-b", 65]
    assert "not tried: pcah with 65 bits, more" in run("tune", "x.npy", *given)


def test_a_configuration_is_replaced_only_where_that_is_asked_for(folder, monkeypatch):
    """Before anything is measured."""
    given = ["tune", "x.npy", "--bytes", 2, "-o", "t.json", *FEW]
    run(*given)
    before = (folder / "t.json").read_bytes()
    with monkeypatch.context() as patched:
        patched.delattr(tuning, "tune")
        result = invoke(*given)
    assert (result.exit_code, result.stderr) == (
        2,
        "fewbits: error: t.json holds a configuration already: name another file, or "
        "replace it by 'fewbits tune --overwrite'\n",
    )
    assert (folder / "t.json").read_bytes() == before
    run(*given, "--overwrite")


def test_an_interrupted_call_goes_on_by_the_same_command(folder, monkeypatch):
    given = ["tune", "x.npy", "--bytes", 4, "-o", "t.json", *FEW]

    def interrupt(race, measured):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(_race.Race, "retimed", interrupt)
        assert invoke(*given).exit_code == 130
    assert not (folder / "t.json").exists()
    kept = (folder / "t.measurements.jsonl").read_text()
    run(*given)
    assert (folder / "t.measurements.jsonl").read_text() == kept


def test_a_call_that_failed_is_no_hindrance_to_the_next(folder):
    """On other data its measurements are replaced if that is asked for."""
    given = ["--recall", 0.99, "--bytes", 2, "-o", "t.json", *FEW]
    assert invoke("tune", "x.npy", *given).exit_code == 2
    np.save("y.npy", X[500:].astype(np.float32))
    given[1] = 0.01
    found = invoke("tune", "y.npy", *given)
    assert "other data or settings (data): replace it by 'fewbits" in found.stderr
    assert (found.exit_code, (folder / "t.json").exists()) == (2, False)
    run("tune", "y.npy", *given, "--overwrite")
    kept = (folder / "t.measurements.jsonl").read_text()
    run("tune", "y.npy", *given, "--overwrite")
    assert (folder / "t.measurements.jsonl").read_text() == kept


def test_what_is_nearest_to_a_time_is_named(monkeypatch):
    def timed(encoders, _):
        return [each.n_bits * 0.25e-6 for each in encoders]

    monkeypatch.setattr(_trial, "seconds_alone", timed)
    given = ["tune", "x.npy", "--encode-us", 1e-3, "-o", "t.json", *FEW]
    result = invoke(*given)
    assert "recall@10 against microseconds to encode a vector (log" in result.stdout
    assert " bytes and 4.00 microseconds" in result.stderr
    assert min(each["encode_us"] for each in tried(given)) == 4


def test_a_time_that_is_only_just_kept_is_explained(monkeypatch):
    monkeypatch.setattr(_trial, "seconds_alone", lambda *_: [98e-6])
    given = ["tune", "x.npy", "--encode-us", 100, "-o", "t.json", *FEW]
    monkeypatch.setattr(_finals, "seconds_alone", lambda found, _: [98e-6] * len(found))
    assert "98.00 microseconds, which must stay 5% below\n" in invoke(*given).stderr


def tried(given):
    """Return the frontier, of what was measured before."""
    return json.loads(invoke(*given, "--json").stdout)["frontier"]


def test_what_exceeds_the_bytes_is_nowhere(folder):
    """Not even where an earlier call has measured it."""
    run("tune", "x.npy", "--recall", 0.2, "-o", "t.json", *FEW)
    given = ["tune", "x.npy", "--bytes", 82, "-o", "t.json", *AGAIN, *FEW]
    found = json.loads(run(*given))["frontier"]
    assert max(each["bytes_per_item"] for each in found) == 82  # 80 of a vector
    given[3] = 4
    found = json.loads(run(*given))["frontier"]
    assert max(each["bytes_per_item"] for each in found) == 4
    run(*[each for each in given if each != "--json"], "--plot", "p.svg")
    assert ", 84 bytes" not in (folder / "p.svg").read_text()


def test_the_fastest_is_told_where_none_is_fast_enough(folder):
    measured = [
        tuning.Measured(
            configuration=tuning.Configuration("lsh", bits),
            quality=quality,
            error=0.0,
            memory_bytes=bits // 8,
            bytes_per_item=bits // 8,
            encode_us=microseconds,
            search_us=1.0,
            query_us=20.0,
            scan_us=0.0,
            fit_seconds=0.0,
            n_items=100,
            n_constant_bits=0,
        )
        for bits, quality, microseconds in ((32, 0.5, 7.5), (16, 0.4, 7.25))
    ]
    found = SimpleNamespace(
        reached=False,
        best=measured[0],
        measured=measured,
        target=tuning.Target(max_encode_us=1.0),
    )
    said = r"7\.50 microseconds; the fastest, lsh, 16 bits, takes 7\.25 micro"
    with pytest.raises(ArgumentError, match=said):
        refuse_unreached(found, folder / "t.json")
    found.best = measured[1]
    with pytest.raises(ArgumentError, match=r"7\.25 microseconds$"):
        refuse_unreached(found, folder / "t.json")


def test_what_is_measured_and_the_best_so_far_are_shown(monkeypatch):
    monkeypatch.setattr(_progress, "PAUSE", 0.0)
    given = ["tune", "x.npy", "--bytes", 4, "-o", "t.json", *FEW]
    told = invoke(*given).stderr.splitlines()
    assert told[0] == "fewbits: tuning, 10 min, round 1 of 1: lsh, 2 lengths: 0 of 4"
    assert told[1].startswith("fewbits: tuning, 10 min, round 1 of 1: best 0.")
    assert told[1].endswith(" in 4 bytes; hadamard, 2 lengths: 2 of 4")


def test_no_time_is_foretold_that_nobody_knows(monkeypatch):
    screen, lines = io.StringIO(), {}
    console = partial(rich.console.Console, file=screen, force_terminal=True, width=99)
    monkeypatch.setattr(rich.console, "Console", lambda **_: console())
    for foretell in (True, False):
        with _progress.progress_bar("tuning", foretell=foretell) as update:
            update(1, 130, "lsh, 32 bits")
        lines[foretell] = screen.getvalue()
        screen.seek(screen.truncate(0))
    assert "-:--:--" in lines[True]
    assert "-:--:--" not in lines[False]
    assert "0:00:00" in lines[False]
    assert "lsh, 32 bits" in lines[False]


def test_only_a_configuration_is_replaced(folder):
    given = ["tune", "x.npy", "--bytes", 2, "-o", "t.json", *FEW]
    (folder / "t.json").touch()
    run(*given)
    assert "Pareto frontier" in run(*given, "--overwrite")
    for content in ('{"mine": 1}', "no JSON"):
        (folder / "t.json").write_text(content)
        result = invoke(*given, "--overwrite")
        told = "fewbits: error: t.json exists and holds no configurations; name another"
        assert (result.exit_code, result.stderr) == (2, f"{told} file\n")
        assert (folder / "t.json").read_text() == content


MISTAKES = {
    "tune x.npy -o t.json": "give a target",
    "tune x.npy --bytes 4": "Missing option",
    "tune x.npy --bytes 4 -o t.txt": "configurations are written to a .json file",
    "tune x.npy --bytes 4 -o t.json --plot p.png": "drawings are written to a .svg",
    "tune x.npy --recall 0.9 --map 0.5 -o t.json": "give one of --recall, --map",
    "tune x.npy --recall 0.9 --quality map -o t.json": "contradict each other",
    "tune x.npy --map 0.5 -o t.json": "goes by labels",
    "tune x.npy --recall 2 -o t.json": "at most 1",
    "tune one.npz --labels y --map 0.5 -o t.json": "needs at least two classes",
    "tune x.npy --bytes 1 -b 16 -o t.json": "16 bits take more than 1 byte",
    "tune x.npy --bytes 4 -m threshold -o t.json": "threshold makes 64 bits, more",
    "tune x.npy --bytes 4 --minimise memory -o t.json": "a minimum quality is needed",
    "tune x.npy --recall 0.5 --minimise x -o t.json": "must be bytes or memory",
    "tune x.npy --memory-bytes 0 -o t.json": "an item takes a byte at least",
    "tune x.npy --bytes 4 --rows 1 -o t.json": "1 item is too few for k=10",
    "tune x.npy --bytes 4 --rows 0 -o t.json": "must be at least 1, got 0",
    "tune x.npy --bytes 4 --rows 5 -o t.json": "5 items are too few for k=10",
    "tune none.npy --bytes 1 -o t.json": "there is no none.npy",
    "fit x.npy --config none.json -o b": "none.json: No such file",
    "fit x.npy --config x.npy -o b": "is not a configuration of 'fewbits tune'",
}


@pytest.mark.parametrize("command", MISTAKES)
def test_one_line_and_nothing_written(command, folder):
    before = sorted(folder.iterdir())
    result = invoke(*command.split())
    assert result.exit_code == 2
    assert MISTAKES[command] in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(("quality", "missed"), [(0.3, True), (0.95, False)])
def test_what_other_queries_miss_is_told(folder, monkeypatch, quality, missed):
    def report(race, best):
        return replace(best, quality=quality)

    monkeypatch.setattr(_race.Race, "report", report)
    given = ["tune", "x.npy", "--recall", 0.5, "--bytes", 8, "-o", "t.json", *FEW]
    told = "that is below 0.5, which the validation queries reach" in run(*given)
    assert told == missed
    assert json.loads(run(*given, *AGAIN))["confirmed"] != missed


@pytest.mark.parametrize(("encode_us", "missed"), [(2e6, True), (5e5, False)])
def test_a_time_that_is_missed_is_told(folder, monkeypatch, encode_us, missed):
    def report(race, best):
        return replace(best, encode_us=encode_us)

    monkeypatch.setattr(_race.Race, "report", report)
    given = ["tune", "x.npy", "--encode-us", 1e6, "--bytes", 8, "-o", "t.json", *FEW]
    out = run(*given)
    assert ("timed again, encoding took 2000000.00 microseconds" in out) == missed
    assert ("a little less, or the machine was busy" in " ".join(out.split())) == missed
    assert json.loads(run(*given, *AGAIN))["confirmed"] != missed


def test_rows_that_take_part_are_bounded(folder):
    given = ["tune", "x.npy", "--bytes", 4, "--rows", 200, "-o", "t.json", *FEW]
    assert json.loads(run(*given, "--json"))["reported"]["n_items"] == 200


def test_vectors_that_are_kept_are_told():
    asked = ["tune", "x.npy", "-o", "t.json", "-m", "itq", "-b", 16]
    told = "time, not space: 82 bytes per item, and 80 for the vectors alone\n"
    assert told in run(*asked, "--recall", 0.8)
    assert "not space" not in run(*asked, "--bytes", 2, "--overwrite")


def test_memory_is_bounded_and_minimised_beside_the_disk():
    asked = ["tune", "x.npy", "-o", "t.json", "-m", "itq", "-b", 16, "-b", 64]
    out = run(*asked, "--memory-bytes", 2)
    assert "not tried: 64 bits take more than 2 bytes" in out
    assert "against bytes per item in memory (log" in out
    told = "vectors are stored for re-ranking: 2 bytes per item in memory, and "
    assert told in out
    found = json.loads(run(*asked, "--memory-bytes", 2, *AGAIN))
    assert (found["best"]["memory_bytes"], found["reached"]) == (2, True)
    assert found["best"]["bytes_per_item"] > 2
    on_disk, in_memory = (
        json.loads(run(*asked, "--recall", 0.7, *how, *AGAIN))["best"]
        for how in ([], ["--minimise", "memory"])
    )
    assert in_memory["memory_bytes"] < on_disk["memory_bytes"]
    assert in_memory["bytes_per_item"] > on_disk["bytes_per_item"]
    given = [*asked, "--overwrite", "--recall", 0.999, "--memory-bytes", 2]
    found = invoke(*given, "--bytes", 4)
    assert "4 bytes per item and 2 bytes per item in memory: the clo" in found.stderr
    assert " bytes (2 in memory) and " in found.stderr


def test_codes_as_large_as_vectors_are_told():
    asked = ["tune", "x.npy", "-o", "t.json", "-m", "lsh", "--bytes", 128]
    told = "note: a code takes 128 bytes, not less than a float16 vector: 128"
    found = " ".join(run(*asked, "-b", 1024).split())
    assert told in found
    assert "not less" not in run(*asked, "-b", 512, "--overwrite")


def test_what_does_not_suit_the_items_is_told_where_it_was_asked_for(monkeypatch):
    """Fewer than 64 pixels vary."""
    monkeypatch.setattr(_wanted, "default_methods", lambda *_, **__: ("lsh", "pcah"))
    given = ["tune", "x.npy", "-o", "t.json", "--bytes", 8, "-b", 64]
    assert "could not be learnt" not in run(*given)
    again = run(*given, "--overwrite", "-m", "lsh", "-m", "pcah")
    assert "note: some of pcah could not be learnt: PCAH makes one bit" in again


def test_measurements_are_no_configuration():
    run("tune", "x.npy", "--bytes", 4, "-o", "t.json", *FEW)
    told = invoke("fit", "x.npy", "--config", "t.measurements.jsonl", "-o", "b")
    assert (told.exit_code, told.stderr.count("\n")) == (2, 1)
    assert "it holds measurements; the configuration is the .json file" in told.stderr


def test_on_a_device():
    pytest.importorskip("torch")
    asked = ["tune", "x.npy", "-o", "t.json", "-m", "itq", "-b", 16, "--bytes", 4]
    assert "itq, 16 bits" in run(*asked, "--device", "cpu")
    told = invoke(*asked, "--device", "tpu9", "--overwrite")
    assert (told.exit_code, told.stderr) == (
        2,
        "fewbits: error: no device 'tpu9': 'auto', 'cpu' or 'cuda'\n",
    )


def test_the_vectors_themselves_are_told_and_recommended():
    """A full scan finds all of the nearest, in less than any bound on its time."""
    out = run("tune", "x.npy", "--query-ms", 1000, "-o", "t.json", *FEW)
    assert "float32 vectors, full scan" in out
    assert "vectors meet the target without any code" in " ".join(out.split())
    again = run("tune", "x.npy", "--bytes", 4, "-o", "t.json", *FEW, "--overwrite")
    assert "vectors meet the target" not in " ".join(again.split())


@pytest.mark.parametrize(("scan_us", "told"), [(20.0, True), (5.0, False)])
def test_a_scan_that_is_faster_is_told_however_short(monkeypatch, scan_us, told):
    def report(race, best):
        return replace(best, query_us=10.0, scan_us=scan_us)

    monkeypatch.setattr(_race.Race, "report", report)
    out = run("tune", "x.npy", "--bytes", 4, "-o", "t.json", *FEW)
    said = "less than the choice: codes save memory here, not time"
    assert (said in " ".join(out.split())) != told


def test_rows_that_come_later_are_named():
    again = run("tune", "x.npy", "--bytes", 4, "-o", "t.json", *FEW)
    assert "items that come later" in again


def test_methods_that_are_not_measured_are_named(monkeypatch):
    monkeypatch.setattr(_wanted, "default_methods", lambda *_, **__: ("lsh",))
    out = run("tune", "x.npy", "--bytes", 4, "-o", "t.json", "-b", 16)
    assert "note: not tried unless named by --method: pcah, threshold" in out
