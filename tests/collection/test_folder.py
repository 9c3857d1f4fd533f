"""A collection comes back as it was saved; a save leaves the old one or the new one."""

import contextlib
import errno
import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest

import fewbits
from fewbits import Collection
from fewbits.collection import tools
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, ArtefactError
from fewbits.store import one_at_a_time
from tests.collection._full import N, X, all_files, answers, full, learnt
from tests.store._sizes import small_segments

OTHER = LinearEncoder(-np.eye(12), np.zeros(12))


def bytes_of(folder):
    return {path: path.read_bytes() for path in all_files(folder)}


@pytest.mark.parametrize("form", ["float16", "float32", "int8"])
def test_round_trip(tmp_path, form):
    col = full(form=form)
    before = answers(col)
    col.save(tmp_path / "c")
    opened = Collection.open(str(tmp_path / "c"))
    assert answers(opened) == before
    assert (opened.path, opened.version) == (tmp_path / "c", col.version)
    assert (opened.facts, opened.schema) == (col.facts, col.schema)
    assert opened.codebook.fingerprint == col.codebook.fingerprint
    assert answers(full(tmp_path / "d", form)) == before
    again = pickle.loads(pickle.dumps(opened))
    again.save(tmp_path / "e")
    assert answers(Collection.open(tmp_path / "e")) == before
    for place in "cde":
        assert Collection.verify_folder(tmp_path / place).is_intact


def test_saves_are_of_their_own(tmp_path):
    col = full(tmp_path / "c")
    col.save(tmp_path / "d")
    assert col.path == tmp_path / "c"
    copy = Collection.open(tmp_path / "d")
    copy.delete(["k1"])
    col.refresh()
    assert ("k1" in col, "k1" in copy) == (True, False)
    col.save(tmp_path / "c")  # it is there already
    assert len(Collection.open(tmp_path / "c")) == N


def test_without_rows(tmp_path):
    learnt().save(tmp_path / "c")
    col = Collection.open(tmp_path / "c")
    assert (len(col), col.version, col.versions(), col.columns) == (0, 0, [], [])
    assert len(all_files(tmp_path / "c")) == 5
    for call in (
        lambda: col.search(X),
        lambda: col.to_arrow(),
        lambda: col.get(["a"]),
        lambda: col.delete(["a"]),
        lambda: col.duplicates(1),
        lambda: col.compact(),
        lambda: col.ids,
        lambda: col.codes,
        lambda: col.like(X[:1]),
        lambda: col.recall(),
        lambda: col.reencode(OTHER),
    ):
        with pytest.raises(ArgumentError, match="holds no rows yet"):
            call()
    assert "a" not in col
    assert col.classify(X[:3]).classes.tolist() == ["ant", "bee", "cat"]
    assert Collection.verify_folder(tmp_path / "c").is_intact


def test_facts_come_back_as_plain_values(tmp_path):
    extra = {"n": np.int64(3), "mean": np.float32(0.5), "list": np.arange(2)}
    known = tools.with_facts(learnt(), **extra, trained_on=np.int64(60), method="llc")
    known.save(tmp_path / "c")
    opened = Collection.open(tmp_path / "c")
    assert opened.facts == known.facts
    assert opened.facts.extra == {"n": 3, "mean": 0.5, "list": (0, 1)}
    summary = opened.summary()
    assert (summary["n"], summary["trained_on"], summary["method"]) == (3, 60, "llc")
    for odd in (object(), 1j, {1, 2}, {1: True}):
        with pytest.raises(ArgumentError, match="extra must h"):
            tools.with_facts(learnt(), odd=odd)
    frozen = tools.with_facts(full(), note="x")
    with pytest.raises(ArgumentError, match="is read-only"):
        frozen.delete(["k1"])
    frozen.save(tmp_path / "d")
    assert Collection.open(tmp_path / "d").summary()["note"] == "x"
    assert Collection.create(None, X, encoder=known).facts.extra == opened.facts.extra


def test_the_same_content_again(tmp_path):
    col = full(tmp_path / "c")
    before = answers(col)
    for _ in range(2):
        full().save(tmp_path / "c", overwrite=True)
        assert answers(Collection.open(tmp_path / "c")) == before
    assert Collection.verify_folder(tmp_path / "c").is_intact


def test_what_replaces_a_collection_leaves_nothing_of_it(tmp_path):
    full(tmp_path / "c")
    learnt(codebook=None, calibration=None, rejection=None).save(
        tmp_path / "c", overwrite=True
    )
    assert len(list((tmp_path / "c").iterdir())) == 2
    Collection.create(tmp_path / "c", X, encoder=OTHER, overwrite=True)
    assert [path.is_dir() for path in (tmp_path / "c").iterdir()].count(True) == 1
    assert len(list((tmp_path / "c").iterdir())) == 3


@pytest.mark.parametrize("content", [b"", b"{", b"not JSON"])
def test_a_damaged_manifest_beside_files_of_a_collection_is_ours(tmp_path, content):
    full(tmp_path / "c")
    (tmp_path / "c" / "collection.json").write_bytes(content)
    with pytest.raises(ArtefactError, match="holds a collection already"):
        full().save(tmp_path / "c")
    learnt().save(tmp_path / "c", overwrite=True)
    assert len(Collection.open(tmp_path / "c")) == 0
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "collection.json").write_bytes(content)
    with pytest.raises(ArtefactError, match="of something else"):
        learnt().save(tmp_path / "d", overwrite=True)


def test_what_is_left_of_a_collection_is_not_lost_in_silence(tmp_path):
    full(tmp_path)
    manifest = (tmp_path / "collection.json").read_bytes()
    (tmp_path / "collection.json").unlink()
    (tmp_path / "encoder-new.safetensors").touch()  # begun only
    with pytest.raises(ArtefactError, match=r"holds .*-.* of a collection, but no "):
        learnt().save(tmp_path)
    (tmp_path / "collection.json").write_bytes(manifest)
    assert answers(Collection.open(tmp_path)) == answers(full())
    (tmp_path / "collection.json").unlink()
    learnt().save(tmp_path, overwrite=True)
    assert len(Collection.open(tmp_path)) == 0
    assert len(list(tmp_path.iterdir())) == 5


def test_left_overs_of_a_crash_are_removed(tmp_path):
    (tmp_path / "encoder-new.safetensors").write_text("half")
    (tmp_path / ".collection.json.abc.tmp").write_text("half")
    (tmp_path / "verified.json").write_text("{}")
    full(tmp_path)
    assert len(list(tmp_path.iterdir())) == 6
    assert answers(Collection.open(tmp_path)) == answers(full())


def test_places_where_nothing_can_be_saved(tmp_path):
    (tmp_path / "file").write_text("x")
    for target, error in (
        ("file", ArtefactError),
        ("file/c", NotADirectoryError),
        (".", ArtefactError),
    ):
        for make in (full().save, full):
            with pytest.raises(error) as caught:
                make(tmp_path / target)
            assert "\n" not in str(caught.value)
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.usefixtures("no_new_files")
def test_a_folder_that_takes_no_files(tmp_path):
    with pytest.raises(PermissionError) as caught:
        full(tmp_path / "c")
    assert caught.value.filename == str(tmp_path / "c")
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("has_rows", [False, True])
@pytest.mark.parametrize("name", ["fsync", "chmod", "replace", "rename", "link"])
def test_a_full_disk_at_any_step_keeps_the_old_or_the_new(
    tmp_path, monkeypatch, name, has_rows
):
    full(tmp_path / "c")
    old, real, call = answers(Collection.open(tmp_path / "c")), getattr(os, name), 0
    new = full(form="int8") if has_rows else learnt(calibration=None)
    has_failed = True
    while has_failed:
        calls, has_failed = iter(range(1000)), False

        def sometimes(*args, calls=calls, call=call, **kwargs):
            if next(calls) == call:
                raise OSError(errno.ENOSPC, "No space left on device", "draft")
            return real(*args, **kwargs)

        with monkeypatch.context() as patch:
            patch.setattr(os, name, sometimes)
            try:
                new.save(tmp_path / "c", overwrite=True)
            except OSError as error:
                has_failed = True
                assert error.filename == str(tmp_path / "c")  # noqa: PT017
        col = Collection.open(tmp_path / "c")
        is_old = len(col) == N and col.vector_dtype == "float32"
        assert not is_old or answers(col) == old
        assert is_old or col.vector_dtype == new.vector_dtype
        assert not [path for path in all_files(tmp_path) if path.suffix == ".tmp"]
        call += 1
        if not is_old:
            full().save(tmp_path / "c", overwrite=True)


def test_a_full_disk_keeps_what_was_damaged(tmp_path, monkeypatch):
    folder = tmp_path / "c"
    before = answers(full(folder))
    path = folder / "collection.json"
    data = bytearray(path.read_bytes())
    data[200] ^= 1
    path.write_bytes(data)
    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, no_room)
            with pytest.raises(OSError, match="space"):
                learnt().save(folder, overwrite=True)
    assert Collection.repair_folder(folder).is_complete
    assert answers(Collection.open(folder)) == before


def no_room(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_what_is_deleted_or_replaced_leaves_the_disk_at_once(tmp_path):
    col = full(tmp_path / "c")
    col.delete([f"k{i}" for i in range(20)])  # most of them
    (path,) = tmp_path.glob("c/rows-*/seg-*")
    assert b"k19" not in path.read_bytes()
    ids = [f"k{i}" for i in range(20, 30)]
    col.update(None, ids=ids, columns={"year": range(10)})  # so many that all is anew
    (other,) = tmp_path.glob("c/rows-*/seg-*")
    assert other != path
    hits = col.search(X[:1], 3)  # which may ask for more columns of this version
    col.delete(["k21"])
    col.compact()
    assert other.exists()
    del hits
    col.compact()
    assert not other.exists()


FULL = """
import resource, signal, sys
import numpy as np
from fewbits import Collection
col = Collection.open(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))
try:
    X = np.ones((5000, 12), np.float32)
    Collection.create(sys.argv[2], X, encoder=col, overwrite=True)
except OSError as error:
    print(error.filename, error.strerror)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
@pytest.mark.parametrize("target", ["old", "new"])
def test_a_short_write_leaves_no_trace(tmp_path, target):
    full(tmp_path / "old")
    before = bytes_of(tmp_path)
    run = subprocess.run(
        [sys.executable, "-c", FULL, tmp_path / "old", tmp_path / target],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == f"{tmp_path / target} File too large\n"
    assert not (tmp_path / "new").exists()
    assert bytes_of(tmp_path) == before


SAVES = """
import sys
import numpy as np
from fewbits import Collection
from fewbits.encoders import LinearEncoder
X = np.ones((3000, 12), np.float32)
print("ready", flush=True)
n = 0
while True:
    n += 1
    encoder = LinearEncoder(n * np.eye(12), np.zeros(12))
    col = Collection.create(
        sys.argv[1], n * X, encoder=encoder, overwrite=True, keep_vectors="float32"
    )
    col.upsert(-n * X[:9], ids=range(9))
    print(n, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_kills_leave_a_collection(tmp_path):
    """Killed at any moment, a save has happened or not, and the next one cleans up."""
    rng = np.random.default_rng(0)
    for _ in range(2):
        run = subprocess.Popen(
            [sys.executable, "-c", SAVES, tmp_path / "c"], stdout=subprocess.PIPE
        )
        assert run.stdout.readline() == b"ready\n"
        assert run.stdout.readline()
        time.sleep(rng.uniform(0, 0.1))
        run.send_signal(signal.SIGKILL)
        run.communicate()
        col = Collection.open(tmp_path / "c")
        vectors = col.vectors
        n = abs(vectors[0, 0])
        assert set(np.unique(vectors)) <= {n, -n}
        np.testing.assert_array_equal(col.codes, col.encoder.encode(vectors))
        assert Collection.verify_folder(tmp_path / "c").is_intact
    del col
    Collection.open(tmp_path / "c").compact()
    assert tools.unused_files(tmp_path / "c") == {}
    assert [path.is_dir() for path in (tmp_path / "c").iterdir()].count(True) == 1


def test_one_saves_at_a_time(tmp_path):
    full(tmp_path / "c")
    with one_at_a_time(tmp_path / "c" / ".saving.tmp"):
        run = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import sys; from fewbits import Collection\n"
                "short = Collection.open(sys.argv[1]).prefix(5)\n"
                "short.save(sys.argv[1], overwrite=True)",
                tmp_path / "c",
            ]
        )
        with pytest.raises(subprocess.TimeoutExpired):
            run.wait(3)
        assert answers(Collection.open(tmp_path / "c")) == answers(full())
    assert run.wait(60) == 0
    assert Collection.open(tmp_path / "c").encoder.n_bits == 5


def test_what_changed_is_told_by_a_few_names(tmp_path):
    col = full(tmp_path / "c")
    names = tools.file_names(col)
    assert {path.name for path in all_files(tmp_path)} >= names
    assert any(name.startswith("seg-") for name in names)
    assert any(name.startswith("encoder-") for name in names)
    assert (tools.file_names(full()), tools.disk_bytes(full())) == (set(), 0)
    assert 0 < tools.disk_bytes(col) <= sum(map(len, bytes_of(tmp_path).values()))


@pytest.mark.parametrize("form", ["float32", "int8"])
def test_bytes_are_told_by_what_they_are_for(tmp_path, form):
    col = full(tmp_path / "c", form)
    col.delete(["k1", "k2"])
    usage, files = col.usage(), bytes_of(tmp_path)
    assert (usage["n_dead_rows"], usage["n_segments"]) == (2, 1)
    names = [path.name for path in files if path.parent.name.startswith("rows-")]
    assert usage["n_files"] == len(names)
    assert sum(usage["bytes"].values()) == sum(map(len, files.values()))
    assert usage["bytes"]["codes"] == 2 * N
    assert usage["bytes"]["vectors"] > 12 * N
    memory = full(form=form).usage()
    assert (memory["n_files"], memory["bytes"]["codes"]) == (0, 2 * N)
    tools.warm(col)
    assert tools.value_numbers(col, "kind", np.array([2, 0, 2])).tolist() == [0, 1, 0]


def test_rows_that_are_read_stay_until_later(tmp_path):
    col = full(tmp_path / "c")
    before = answers(col)
    learnt().save(tmp_path / "c", overwrite=True)
    assert answers(col) == before
    assert tools.unused_files(tmp_path / "c")
    del col
    learnt().save(tmp_path / "c", overwrite=True)
    assert tools.unused_files(tmp_path / "c") == {}


# Tables of search beside the rows.


@pytest.fixture
def _small(monkeypatch):
    small_segments(monkeypatch)


def table_files(folder):
    return sorted(folder.glob("rows-*/mih-*.bin"))


@pytest.fixture
def looked_up(tmp_path, _small):
    """Return a compact collection in a folder with tables."""
    col = Collection.create(
        tmp_path / "c",
        np.repeat(X, 9, axis=0),
        columns={"g": np.arange(9 * N) % 7},
        encoder=OTHER,
        index="multi-index",
    )
    col.delete(range(0, 60, 3))
    col.compact()
    assert len(table_files(tmp_path / "c")) == 1
    return col


def found(col):
    return [
        col.search(X, 9).ids.tolist(),
        col.search(X, radius=2, filter="g > 3").ids.tolist(),
        col.search(X, 4, group_by="g").distances.tolist(),
    ]


def flat(col):
    """Return what a collection of the same rows finds without tables."""
    table = col.to_arrow()
    other = Collection.create(
        None,
        codes=col.codes,
        ids=col.ids,
        columns={"g": table["g"]},
        encoder=None,
        bits=12,
        index="flat",
    )
    queries = OTHER.encode(X)
    return [
        other.search(codes=queries, k=9).ids.tolist(),
        other.search(codes=queries, radius=2, filter="g > 3").ids.tolist(),
        other.search(codes=queries, k=4, group_by="g").distances.tolist(),
    ]


def test_tables_change_no_answer_and_stay_with_their_rows(looked_up):
    (path,) = table_files(looked_up.path)
    before = path.read_bytes()
    assert found(looked_up) == flat(looked_up)
    looked_up.add(X[:2], columns={"g": [1, 2]})
    looked_up.delete([70, 71])
    assert found(looked_up) == flat(looked_up)
    assert path.read_bytes() == before
    opened = Collection.open(looked_up.path)
    assert found(opened) == flat(opened)
    assert opened.summary()["index"] == "multi-index"
    assert Collection.verify_folder(looked_up.path).is_intact


@pytest.mark.parametrize("how", ["gone", "flipped", "cut", "other", "empty", "folder"])
def test_tables_that_are_not_as_they_were(looked_up, tmp_path, how):
    (path,) = table_files(looked_up.path)
    content = bytearray(path.read_bytes())
    path.unlink()
    if how == "flipped":
        content[len(content) // 2] ^= 4
    if how == "other":
        other = Collection.create(tmp_path / "d", X, encoder=OTHER, index="multi-index")
        other.compact()
        content = table_files(tmp_path / "d")[0].read_bytes()
    if how == "folder":
        path.mkdir()
    elif how != "gone":
        n = {"cut": len(content) // 2, "empty": 0}.get(how, len(content))
        path.write_bytes(content[:n])
    col = Collection.open(looked_up.path)
    assert found(col) == flat(col)
    report = Collection.verify_folder(looked_up.path)
    assert report.is_intact
    assert report.to_rebuild == (() if how == "gone" else (str(path),))
    col.compact()  # makes them again
    if how != "folder":
        assert Collection.verify_folder(looked_up.path).is_intact
        assert len(table_files(looked_up.path)) == 1


@pytest.mark.parametrize("index", ["auto", "flat"])
def test_few_codes_and_flat_indexes_have_no_tables(tmp_path, index):
    col = Collection.create(tmp_path / "c", X, encoder=OTHER, index=index)
    number = col.version
    col.compact()
    assert not table_files(tmp_path / "c")
    assert col.version == number  # there was nothing to do
    assert col.facts.index == (None if index == "auto" else index)


@pytest.mark.usefixtures("_small")
def test_a_folder_that_cannot_be_written_is_searched(looked_up, monkeypatch):
    monkeypatch.setattr(
        os, "replace", lambda *_: (_ for _ in ()).throw(PermissionError(13, "no"))
    )
    col = Collection.open(looked_up.path)
    assert found(col) == flat(col)


def test_a_fitted_encoder_is_shared_by_its_folder(tmp_path):
    fewbits.fit(pa.table({"v": X.tolist()}), learner="lsh", bits=8).save(tmp_path / "e")
    for name in ("a", "b"):
        Collection.create(tmp_path / name, X, encoder=tmp_path / "e")
    one, other = (Collection.open(tmp_path / name) for name in ("a", "b"))
    tools.check_same_codes(one, other)
    np.testing.assert_array_equal(one.codes, other.codes)
    with contextlib.suppress(OSError):
        os.remove(tmp_path / "e" / "collection.json")
    assert len(Collection.open(tmp_path / "a")) == N


def test_rows_without_a_manifest_are_never_guessed(tmp_path):
    """Of two folders of rows, none is taken for that of the collection."""
    full(tmp_path / "c")
    full(tmp_path / "d")
    (other,) = (tmp_path / "d").glob("rows-*")
    other.rename(tmp_path / "c" / other.name)
    (tmp_path / "c" / "collection.json").unlink()
    content = {path: path.read_bytes() for path in all_files(tmp_path / "c")}
    report = Collection.verify_folder(tmp_path / "c", record=False)
    assert [damage.reason for damage in report.damages] == ["it is missing"]
    for door in (Collection.open, Collection.repair_folder):
        with pytest.raises(ArtefactError, match="from a backup"):
            door(tmp_path / "c")
    assert {path: path.read_bytes() for path in all_files(tmp_path / "c")} == content
