"""A mistake gives one line and exit code 2, and changes nothing on the disk."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cli._calling import fail, invoke, run

X = np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", X)
    np.save("narrow.npy", X[:, :3])
    np.save("nan.npy", np.where(X > 2, np.nan, X))
    np.save("number.npy", np.float32(1))
    np.save("complex.npy", X * 1j)
    np.savez("two.npz", a=X, b=X)
    (tmp_path / "bad.npy").write_text("hello")
    (tmp_path / "file.dat").write_text("hello")
    (tmp_path / "empty.json").write_text("{}")
    (tmp_path / "t.txt").write_text("a cat\na dog\n")
    (tmp_path / "nothing.txt").touch()
    (tmp_path / "words.json").write_text('{"12": "ab"}')
    twice = '{"3": ["a", "b"], "3": ["c", "d"]}'
    (tmp_path / "twice.json").write_text(twice)
    (tmp_path / "far.json").write_text('{"99": ["a", "b"]}')
    (tmp_path / "out_of_distribution").mkdir()
    (tmp_path / "out_of_distribution" / "collection.json").write_text(
        '{"format": "my own"}'
    )
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("precious")
    for name in ("b", "empty", "broken"):
        run("fit", "x.npy", "-o", name, "-b", 16)
    run("build", "b", "x.npy", "--keep-vectors", "float32")
    next((tmp_path / "broken").glob("encoder-*")).write_text("damaged")
    return tmp_path


MISTAKES = {
    "fit none.npy -o n": "there is no none.npy",
    "fit bad.npy -o n": "not a .npy file of numbers",
    "fit number.npy -o n": "shape ()",
    "fit complex.npy -o n": "vectors need real numbers",
    "fit two.npz -o n": "error: two.npz holds 2 arrays (a, b); name one",
    "fit file.dat -o n": "cannot tell what",
    "fit nan.npy -o n": "nan",
    "fit x.npy -o n -m magic": "no method 'magic'",
    "fit x.npy -o n -m cca-itq": "--label",
    "fit x.npy -o n --set density": "name=value",
    "fit x.npy -o n --set density=1": "no parameter 'density'",
    "fit x.npy -o n --random-state -1": "random_state",
    "fit x.npy -o n -m lsh --checkpoint c": "lsh cannot resume, so it takes no",
    "fit x.npy -o n --device tpu9": "no device 'tpu9'",
    "fit x.npy -o n -m hadamard --device cpu": "ecoc or a deep method, not hadamard",
    "fit x.npy -o n -m magic --device cpu": "no method 'magic'",
    "compare x.npy --bytes 4 -m lsh -m sh --device tpu9": "'tpu9'",
    "compare x.npy --bytes 4 -m lsh -m bp --device cpu": "method, not lsh, bp",
    "fit x.npy -o n --checkpoint t.txt": "t.txt is not a checkpoint of a fit",
    "fit x.npy -o n -b many": "valid integer",
    "fit x.npy -o n -b 0": "bits must be",
    "fit x.npy": "Missing option",
    "fit x.npy -o b": "holds a collection already",
    "fit x.npy -o out_of_distribution": "collection.json of something else",
    "fit x.npy -o n -b 9 --set n_bits=5": "one length, got",
    "fit x.npy -o n --random-state 1 --set random_state=2": "one seed, got 1 and 2",
    "fit x.npy -o n --label y.npy": "there is no y.npy",
    "fit x.npy -o n --label nothing.txt": "error: nothing.txt holds no labels\n",
    "data export digits x.npy": "x.npy exists; name another file, or use --overwrite",
    "fit x.npy -o file.dat/deep/n": "file.dat/deep/n: Not a directory",
    "fit x.npy -o n --set n_iter=2 --set n_iter=3": "set twice",
    "fit x.npy -o n -b 65537": "65536], got 65537",
    "fit x.npy -o n -m threshold -b 9": "chooses the number of bits itself",
    "encode b x.npy -o x.npy": "is the input",
    "encode b x.npy -o b/codes.npy": "is a collection",
    "encode b x.npy -o codes.txt": "a .npy file",
    "like b --good-ids 1 --random-state -1": "random_state must be at least 0",
    "fit x.npy -o other": "holds other files",
    "fit x.npy -o file.dat/n": "file.dat",
    "fit x.npy -o file.dat": "is a file",
    "build b t.txt": "holds texts, but this collection takes vectors",
    "build empty t.txt": "holds texts, but this collection takes vectors",
    "build b x.npy -b 8": "b has an encoder already, of --bits 16, not 8: leave out",
    "build b x.npy --keep-vectors int8": "with keep_vectors=float32, not int8",
    "build b narrow.npy": "expected 8 features, got 3",
    "build empty x.npy --keep-vectors int4": "keep_vectors",
    "build n x.npy --index tree": "index must be",
    "build n x.npy --bits 99 --encoder b": "between 1 and 16 bits, got 99",
    "build broken x.npy": "damaged",
    "build other x.npy": "holds other files",
    "encode b nan.npy -o c.npy": "row",
    "encode b x.npy -o none/c.npy": "there is no folder none",
    "encode b x.npy -o other": "is a folder",
    "search b cat": "cannot be typed",
    "search b": "give either",
    "search b -i x.npy -k 0": "k must be at least 1",
    "search b -i x.npy -k -1": "k must be at least 1",
    "search b -i x.npy --filter bit(3)=2": "bit",
    "search b -i x.npy --filter bit(99)=1": "99",
    "search b -i x.npy --filter nope=1": "nope",
    "like b --good-ids x": "integers, got 'x'",
    "inspect empty --bits": "holds no rows yet",
    "inspect b --attributes none/a.html": "there is no folder none for a.html",
    "inspect b --attributes a.txt": "pages are written to a .html file, got a.txt",
    "inspect b --taxonomy a.html": "no class codes",
    "get b 1 x": "integers, got 'x'",
    "get b 99": "no item with id 99",
    "get b 1 --columns nope": "no column 'nope'",
    "search b --codes 0f": "has 4 hexadecimal digits, got '0f'",
    "search b --codes wxyz": "has 4 hexadecimal digits, got 'wxyz'",
    "search b --ids 99": "no item with id 99",
    "search b --ids 1 -i x.npy": "give either",
    "search b --ids 1 --shortlist 5 --no-rerank": "shortlist",
    "search b --ids 1 --allowed x": "integers, got 'x'",
    "update b x.npy": "x.npy is no table",
    "fit out_of_distribution -o n": "out_of_distribution holds no images",
    "data export magic a.csv": "no data set 'magic'; known: digits",
    "data export digits a.csv": "written to a .npz or .npy file, got a.csv",
    "inspect b --attributes a.html --names t.txt": "t.txt holds no names such as",
    "inspect b --attributes a.html --names none.json": "none.json",
    "inspect b --attributes a.html --names words.json": "words.json holds no names",
    "inspect b --attributes a.html --names far.json": "no bit 99 in codes of 16 bits",
    "inspect b --attributes a.html --names twice.json": "key '3' is given twice",
    "inspect b --names far.json": "--names needs --attributes",
    "inspect b --attributes a.html --show 16": "no bit 16 in codes of 16 bits",
    "inspect b --groups kind": "--groups needs --attributes",
    "inspect b --attributes a.html --groups kind": "groups are for names",
    "inspect b --show 1": "--show needs --attributes",
    "inspect b --bits --captions kind": "--captions needs --attributes",
    "inspect b --label kind": "--label needs --bits or --attributes or --bound",
    "inspect b --bits --label kind": "no column 'kind'",
    "search empty -i x.npy": "holds no rows yet",
    "search broken -i x.npy": "damaged",
    "evaluate b x.npy x.npy -k 0": "k must be at least 1",
    "evaluate b x.npy x.npy --query-label kind": "--query-label needs --label",
    "evaluate b x.npy x.npy -k 1000000000": "60 items have no",
    "search b cat --skip-blank": "--skip-blank needs --input, it is about a file",
    "classify b cat --column text": "--column needs --input",
    "like b --good-ids 1 --skip-blank": "--skip-blank needs --input",
    "like b": "give texts or images, --good-ids, or --input",
    "like b cat": "cannot be typed",
    "like b --good-ids 99": "no item with id 99",
    "like b --good-ids 1 --bad-ids 1": "as a member and as none",
    "like b --good-ids 1 -k 0": "k must be at least 1",
    "like empty --good-ids 1": "holds no rows yet",
    "inspect none": "is not a collection",
    "add none x.npy": "none is not a collection: there is no such folder",
    "upsert b x.npy": "give the ids of the rows, by id= or ids= (on the command",
    "delete b": "delete needs ids or a filter",
    "delete b --ids 1 --input ids.txt": "give either --ids or --input",
    "delete b --column id": "--column needs --input, it is about a file",
    "delete b --filter=": "the filter is empty",
    "delete b --ids 1 --timeout -3": "'--timeout'",
    "compact b --timeout nan": "'--timeout'",
    "delete b 7": "extra argument(s) (7); ids are given by --ids (see",
    "delete b --ids 99999": "there is no item with id 99999",
    "magic": "No such command",
    "fit x.npy -o n --method lsh": "No such option: --method",
    "build n x.npy --seed 1": "No such option: --seed",
    "like b --not x": "No such option: --not",
    "get b 1 --keep title": "No such option: --keep",
    "get b 1 --wait 3": "No such option: --wait",
}


def snapshot(folder):
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_mistakes(folder):
    before = snapshot(folder)
    for command, message in MISTAKES.items():
        said = fail(*command.split())
        assert message in said, (command, said)
        assert snapshot(folder) == before, command
        assert not (folder / "n").exists(), command


def test_an_extra_that_is_not_there(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert "pip install" in fail("export", "b", "b.onnx")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full")
def test_full_disk(folder):
    said = fail("encode", "b", "x.npy", "-o", "/dev/full")
    assert said == "fewbits: error: /dev/full: No space left on device\n"
    assert Path("/dev/full").is_char_device()


def test_folder_without_rights(folder, no_new_files):
    said = fail("encode", "b", "x.npy", "-o", "c.npy")
    assert said == "fewbits: error: c.npy: Permission denied\n"


def test_what_memory_cannot_hold(folder, monkeypatch):
    def too_large(*_, **__):
        raise MemoryError("Unable to allocate 1 TiB")

    monkeypatch.setattr("fewbits.inputs.read", too_large)
    said = fail("encode", "b", "x.npy", "-o", "c.npy")
    assert said == "fewbits: error: not enough memory: Unable to allocate 1 TiB\n"


def test_what_nobody_expects_is_no_mistake(folder, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("a fault of the program")

    monkeypatch.setattr("fewbits.inputs.read", broken)
    result = invoke("encode", "b", "x.npy", "-o", "c.npy")
    assert isinstance(result.exception, RuntimeError)


@pytest.mark.skipif(os.name != "posix", reason="needs pipes that can be closed")
def test_closed_pipe(folder):
    code = "from fewbits.cli import main; main()"
    arguments = ["search", "b", "-i", "x.npy", "-k", "60", "--json"]
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert (result.returncode, result.stderr) == (0, b"")
