"""A bundle comes back as it was saved, or is refused in one line."""

import contextlib
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fewbits.bundle import Bundle, Metadata
from fewbits.codes import prefix
from fewbits.errors import ArgumentError, ArtefactError
from fewbits.learners import ITQ, LSH
from tests.bundle._saved import all_files

X = np.random.default_rng(0).normal(size=(60, 12)).astype(np.float32)


@pytest.fixture
def bundle():
    encoder = ITQ(n_bits=24, random_state=0).fit(X).encoder_
    return Bundle(encoder, metadata=Metadata(method="itq")).with_items(
        X, ids=np.arange(60)[::-1] * 3, columns={"label": [str(i) for i in range(60)]}
    )


def test_round_trip(bundle, tmp_path):
    bundle.save(tmp_path / "b")
    loaded = Bundle.load(tmp_path / "b")
    assert loaded.summary() == bundle.summary()
    for one, other in zip(loaded.search(X, 5), bundle.search(X, 5), strict=True):
        np.testing.assert_array_equal(one, other)
    assert not loaded.collection.codes.flags.writeable


def test_answers_carry_ids_and_columns(bundle):
    (hits,) = bundle.search_records(X[7:8], 2)
    assert hits[0] == {"id": (59 - 7) * 3, "distance": 0, "columns": {"label": "7"}}
    assert len(bundle.search_records(X[:1], 10**9)[0]) == 60
    for k in ("a", 2.5, None):
        with pytest.raises(ArgumentError, match="k must be a whole number"):
            bundle.search_records(X[:1], k)


def test_first_bits(bundle, tmp_path):
    known = Metadata(method="itq", shortlist=9, novelty_radius=3, extra={"x": 1})
    tuned = replace(bundle, metadata=known)
    tuned.prefix(13).save(tmp_path / "b")
    short = Bundle.load(tmp_path / "b")
    assert short.metadata == Metadata(method="itq", prefix_of=24, extra={"x": 1})
    assert short.prefix(8).metadata.prefix_of == 24
    np.testing.assert_array_equal(short.encode(X), prefix(bundle.encode(X), 13))
    np.testing.assert_array_equal(short.collection.codes, short.encode(X))
    np.testing.assert_array_equal(short.collection.ids, bundle.collection.ids)
    assert short.collection.row(0) == bundle.collection.row(0)
    assert short.search(X[:1], 1).distances == 0
    assert Bundle(bundle.encoder).prefix(24).items is None
    for n_bits in (0, 25):
        with pytest.raises(ArgumentError, match="must have between 1 and 24 bits"):
            bundle.prefix(n_bits)


@pytest.mark.parametrize("condition", ["1 =", "", [1], {0: 1}])
def test_conditions_that_are_none(bundle, condition):
    for search in (bundle.search, bundle.search_reranked, bundle.search_records):
        with pytest.raises(ArgumentError):
            search(X[:1], filter=condition)


def test_encoding_is_reported(bundle):
    seen = []
    bundle.encode(X, progress=lambda *done: seen.append(done))
    bundle.with_items(X, progress=lambda *done: seen.append(done))
    assert seen == [(60, 60), (60, 60)]


def test_extra_metadata_is_plain(bundle, tmp_path):
    extra = {"n": np.int64(3), "mean": np.float32(0.5), "list": np.arange(2)}
    known = Bundle(bundle.encoder, metadata=Metadata(extra=extra))
    known.save(tmp_path / "b")
    expected = {"n": 3, "mean": 0.5, "list": (0, 1)}
    assert known.metadata.extra == expected
    assert Bundle.load(tmp_path / "b").metadata == known.metadata
    manifest = json.loads((tmp_path / "b" / "bundle.json").read_text())
    assert manifest["metadata"] == {"extra": {**expected, "list": [0, 1]}}


@pytest.mark.parametrize("odd", [object(), 1j, np.complex64(1), {1, 2}, {1: True}])
def test_metadata_that_json_cannot_hold_is_refused(bundle, odd):
    with pytest.raises(ArgumentError, match="extra must h"):
        Metadata(extra={"odd": odd})


@pytest.mark.parametrize("keep", [None, "float16", "float32"])
def test_reranking(bundle, keep, tmp_path):
    bundle.with_items(X, keep_vectors=keep).save(tmp_path / "b")
    found = Bundle.load(tmp_path / "b").search_reranked(X[:9], 3)
    np.testing.assert_array_equal(found.ids[:, 0], np.arange(9))
    if keep == "float32":
        np.testing.assert_array_equal(found.distances[:, 0], 0)


@pytest.mark.parametrize("keep", [None, "float16", "float32", "int8"])
def test_the_size_of_an_item_is_that_of_arrow(bundle, keep):
    items = bundle.with_items(X, keep_vectors=keep).collection
    columns = items.table.select(
        [name for name in items.table.column_names if name != "_id"]
    )
    assert items.vector_form == keep
    assert items.bytes_per_item * len(X) == columns.nbytes


def test_float32_vectors_are_not_copied(bundle, tmp_path):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    kept = bundle.with_items(mapped, keep_vectors="float32").collection.vectors
    assert np.shares_memory(kept, mapped)


def test_vectors_that_do_not_fit(bundle):
    with pytest.raises(ArgumentError, match="row 0 are too large for float16"):
        bundle.with_items(X * 1e6, keep_vectors="float16")
    with pytest.raises(ArgumentError, match="keep_vectors must be"):
        bundle.with_items(X, keep_vectors="int4")


def test_without_items(tmp_path):
    empty = Bundle(LSH(8, random_state=0).fit(X).encoder_)
    empty.save(tmp_path / "b")
    assert Bundle.load(tmp_path / "b").items is None
    with pytest.raises(ArgumentError, match="holds no items yet"):
        empty.search(X[:1])


def test_overwriting_by_a_bundle_without_items_leaves_none(bundle, tmp_path):
    bundle.save(tmp_path / "b")
    Bundle(bundle.encoder).save(tmp_path / "b")
    assert len(list((tmp_path / "b").iterdir())) == 2


def test_left_overs_of_a_crash_are_removed(bundle, tmp_path):
    (tmp_path / "encoder-new.safetensors").write_text("half")
    (tmp_path / ".bundle.json.abc.tmp").write_text("half")
    (tmp_path / "encoder-0123456789ab.safetensors").write_text("whole")
    bundle.save(tmp_path)
    assert len(list(tmp_path.iterdir())) == 3


def test_files_of_two_bundles(bundle, tmp_path):
    bundle.save(tmp_path / "a")
    Bundle(LSH(24, random_state=1).fit(X).encoder_).with_items(X).save(tmp_path / "b")
    (source,) = (tmp_path / "a").glob("items-*")
    (target,) = (tmp_path / "b").glob("items-*")
    shutil.rmtree(target)
    shutil.copytree(source, target)
    with pytest.raises(ArtefactError, match="are of another encoder"):
        Bundle.load(tmp_path / "b")
    (source,) = (tmp_path / "a").glob("encoder-*")
    (target,) = (tmp_path / "b").glob("encoder-*")
    target.write_bytes(source.read_bytes())
    with pytest.raises(ArtefactError, match="damaged"):
        Bundle.load(tmp_path / "b")


def test_sampled_damage_is_found(bundle, tmp_path):
    bundle.save(tmp_path)
    right = bundle.search(X[:5], 3)
    for path in all_files(tmp_path):
        original = path.read_bytes()
        for position in range(0, len(original), 97):
            flipped = bytearray(original)
            flipped[position] ^= 4
            for damaged in (bytes(flipped), original[:position]):
                path.write_bytes(damaged)
                # What is not read, or can be made again, does no harm.
                with contextlib.suppress(ArtefactError):
                    found = Bundle.load(tmp_path).search(X[:5], 3)
                    np.testing.assert_array_equal(found.ids, right.ids)
                    assert path.parent != tmp_path
        path.write_bytes(original)
    Bundle.load(tmp_path)


FULL = """
import resource, signal, sys
import numpy as np
from fewbits.bundle import Bundle
bundle = Bundle.load(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
items = np.ones((5000, 12), np.float32)
try:
    bundle.with_items(items).save(sys.argv[2])
except OSError as error:
    print(error.filename, error.strerror)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
@pytest.mark.parametrize("target", ["old", "new"])
def test_short_write_leaves_no_trace(bundle, tmp_path, target):
    bundle.save(tmp_path / "old")
    before = {path: path.read_bytes() for path in all_files(tmp_path / "old")}
    run = subprocess.run(
        [sys.executable, "-c", FULL, tmp_path / "old", tmp_path / target],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == f"{tmp_path / target} File too large\n"
    assert not (tmp_path / "new").exists()
    after = {path: path.read_bytes() for path in all_files(tmp_path / "old")}
    assert after == before


def test_a_path_below_a_file(bundle, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError, match="Not a directory"):
        bundle.save(tmp_path / "file" / "b")
    with pytest.raises(ArtefactError, match="is a file"):
        bundle.save(tmp_path / "file")


@pytest.mark.parametrize(
    "ask",
    [
        "encode",
        "search",
        "search_records",
        "with_items",
        "classify",
        "search_by_example",
    ],
)
@pytest.mark.parametrize("one", ["broken leg", Path("leg.jpg")])
def test_one_string_is_no_list_of_letters(bundle, ask, one):
    what = "string" if isinstance(one, str) else "path"
    shown = re.escape(f"[{one!r}]")
    with pytest.raises(ArgumentError, match=f"items, not one {what}: {shown}"):
        getattr(bundle, ask)(one)


def test_the_name_of_a_file_is_not_its_items(bundle, tmp_path):
    (tmp_path / "t.csv").write_text("text\na cat\n")
    with pytest.raises(ArgumentError, match=r"; fewbits\.read reads a file$"):
        bundle.with_items(str(tmp_path / "t.csv"))
    with pytest.raises(ArgumentError, match=r"\.csv'\]$"):
        bundle.with_items("none.csv")


def test_one_counterexample_is_no_list_of_letters(bundle):
    with pytest.raises(ArgumentError, match="give a list of items, not one string"):
        bundle.search_by_example(X[:1], "a cat")


@pytest.mark.parametrize("form", [None, "float32", "int8"])
def test_hits_tell_what_their_distance_is(bundle, form):
    kept = bundle.with_items(X, keep_vectors=form)
    (plain,), (again,) = (
        kept.search_records(X[:1], 5, rerank=on) for on in (False, True)
    )
    assert all(set(hit) == {"id", "distance", "columns"} for hit in plain)
    assert [hit["distance"] for hit in plain] == kept.search(X[:1], 5).distances[
        0
    ].tolist()
    metric = "asymmetric" if form is None else "euclidean"
    assert {hit["metric"] for hit in again} == {metric}
    assert [hit["distance"] for hit in again] == kept.search_reranked(
        X[:1], 5
    ).distances[0].tolist()
