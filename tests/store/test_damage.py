"""Flipped bits, cut files and forged ones: told before anything wrong is answered."""

import json
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fewbits.errors import ArtefactError, FewbitsError
from fewbits.store import Store, _blocks
from fewbits.store._deletes import mended_live
from fewbits.store._flipped import flipped_bit
from tests.store._sizes import NIGHTLY, small_segments
from tests.store._tables import VECTORS, content, rows


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    small_segments(monkeypatch)


def build(folder, n=300, schema=VECTORS):
    """Return a store of two segments, the first with deleted rows."""
    store = Store.create(folder, schema, n_bits=64, fingerprint="of a test")
    ids = np.random.default_rng(0).permutation(n).tolist()
    with store.writer() as writer:
        writer.append(rows(ids, 0, schema))
        writer.commit()
        writer.append(rows([n + 5, *range(n, n + 5)], 1, schema))
        writer.delete(range(0, n, 9))
        writer.commit()
    assert len(store.snapshot().parts) == 2
    return store


def files(store):
    return sorted(p for p in store.folder.iterdir() if p.name != "LOCK")


def needed(store):
    """Return the files that are not derived from others, and no older manifests."""
    number = store.snapshot().number
    return [
        path
        for path in files(store)
        if not path.name.startswith(("ids-", "copy-"))
        and (not path.name.startswith("manifest") or f"{number:06d}" in path.name)
    ]


def read_all(folder):
    with Store.open(folder).snapshot() as snapshot:
        found = content(snapshot)
        ids = pa.array(range(400))
        places = [part.find(ids).tolist() for part in snapshot.parts]
        return found, places


def test_each_flipped_bit_is_told(tmp_path):
    store = build(tmp_path)
    wanted = read_all(tmp_path)
    rng = random.Random(0)
    paths = needed(store)
    weights = [path.stat().st_size for path in paths]
    for _ in range(10_000 if NIGHTLY else 1000):
        path = rng.choices(paths, weights if rng.random() < 0.5 else None)[0]
        data = path.read_bytes()
        at = rng.randrange(8 * len(data))
        bad = bytearray(data)
        bad[at // 8] ^= 1 << at % 8
        path.write_bytes(bad)
        with pytest.raises(ArtefactError) as caught:
            read_all(tmp_path)
        assert path.name in str(caught.value), at
        path.write_bytes(data)
    assert read_all(tmp_path) == wanted


def test_a_cut_or_longer_file_is_told(tmp_path):
    store = build(tmp_path, 2000 if NIGHTLY else 500)
    wanted = read_all(tmp_path)
    for path in needed(store):
        data = path.read_bytes()
        edges = [*range(0, len(data), 4096), len(data)]
        lengths = {at + by for at in edges for by in (-1, 0, 1)} - {-1, len(data)}
        for length in sorted(lengths):
            path.write_bytes(data[:length].ljust(length, b"\0"))
            with pytest.raises(ArtefactError, match=path.name):
                read_all(tmp_path)
        path.write_bytes(data)
    assert read_all(tmp_path) == wanted


@pytest.mark.parametrize("kind", ["ids-", "copy-"])
@pytest.mark.parametrize("how", ["gone", "flipped", "empty", "zeros", "of another"])
def test_derived_files_do_not_matter(tmp_path, kind, how):
    store = build(tmp_path)
    wanted = read_all(tmp_path)
    paths = [path for path in files(store) if path.name.startswith(kind)]
    contents = [path.read_bytes() for path in paths]
    assert len(paths) > 1
    for path, data, other in zip(paths, contents, contents[::-1], strict=True):
        path.unlink()
        changed = {
            "flipped": data[:-9] + bytes([data[-9] ^ 4]) + data[-8:],
            "empty": b"",
            "zeros": bytes(len(data)),
            "of another": other,
        }
        if how != "gone":
            path.write_bytes(changed[how])
    assert read_all(tmp_path) == wanted
    assert store.repair().n_lost == 0
    assert store.verify().is_intact
    assert read_all(tmp_path)[0] == wanted[0]


def test_files_of_others_are_left_alone(tmp_path):
    store = build(tmp_path)
    wanted = read_all(tmp_path)
    junk = [
        "notes.txt",
        ".DS_Store",
        "seg-1.arrow",
        "manifest-1.json",
        "manifest-x.json",
    ]
    junk += ["seg-0123456789abcdef.arrow.bak", "copy-1"]
    for name in junk:
        (tmp_path / name).write_bytes(b"junk")
    (tmp_path / "folder").mkdir()
    leftover = tmp_path / "seg-0123456789abcdef.arrow"
    leftover.write_bytes(b"of a writer that was killed")
    assert read_all(tmp_path) == wanted
    with store.writer() as writer:
        writer.delete([1])
        writer.commit()
    assert all((tmp_path / name).read_bytes() == b"junk" for name in junk)
    assert not leftover.exists()


def test_one_broken_segment_does_not_hide_another(tmp_path):
    store = build(tmp_path)
    first, second = store.snapshot().parts
    next(tmp_path.glob(f"seg-{first.entry.token}*")).unlink()
    first, second = store.snapshot().parts
    with pytest.raises(ArtefactError, match="missing"):
        _ = first.codes
    assert second.codes.shape == (6, 8)
    with store.writer() as writer:
        writer.append(rows([1000], 5, VECTORS).slice(0, 1))
        writer.commit()
    report = store.repair()
    assert report.n_lost == first.n_live
    assert list(content(store.snapshot())) == [305, *range(300, 305), 1000]


def test_verify_names_each_flip_with_its_rows(tmp_path):
    store = Store.create(tmp_path, VECTORS, n_bits=64, fingerprint="of a test")
    with store.writer() as writer:
        writer.append(rows(range(20_000), 0, VECTORS))
        writer.commit()
    (part,) = store.snapshot().parts
    path = next(tmp_path.glob("seg-*"))
    clean = path.read_bytes()
    codes = clean.index(part.codes.tobytes())
    for row in (0, 9_000, 19_999):
        data = bytearray(clean)
        data[codes + 8 * row] ^= 16
        path.write_bytes(data)
        report = store.verify()
        (damage,) = report.damages
        assert damage.file == str(path)
        start, stop = damage.bytes
        assert start <= codes + 8 * row < stop <= start + _blocks.BLOCK
        assert "_code" in damage.columns
        assert damage.rows[0] <= row < damage.rows[1]
        assert f"{path} bytes {start}-{stop}, rows" in str(report)


@pytest.mark.parametrize("column", ["_row", "_id", "_code", "text", "n", "_vector"])
def test_repair_keeps_what_is_intact(tmp_path, column):
    store = Store.create(tmp_path, VECTORS, n_bits=64, fingerprint="of a test")
    table = rows(range(20_000), 0, VECTORS)
    with store.writer() as writer:
        writer.append(table)
        writer.commit()
    (part,) = store.snapshot().parts
    wanted = content(store.snapshot())
    numbers = part.sequence.tolist()
    file = part._segment.vectors if column == "_vector" else part._segment.rows
    start, stop = list(file.spans(file.unchecked(column)))[-1]
    path = tmp_path / file.path.rsplit("/", 1)[1]
    data = bytearray(path.read_bytes())
    data[(start + stop) // 2] ^= 3  # two bits: one could be put back
    path.write_bytes(data)
    report = store.repair()
    assert store.verify().is_intact
    assert path.with_name(f"damaged-{path.name}").read_bytes() == data
    assert "stays in the files damaged-*" in str(report)
    found = content(store.snapshot())
    lost = {i: wanted[i] for i in wanted if i not in found}
    assert len(lost) == report.n_lost == 20_000 - report.n_rows
    assert set(report.lost_ids) <= set(lost)
    changed = {i for i in found if found[i] != wanted[i]}
    for i in changed:
        gap = {} if column == "_vector" else {column: None}
        assert {x: y for x, y in wanted[i].items() if x != column} | gap == found[i]
    if column == "_row":
        (part,) = store.snapshot().parts
        assert not lost
        assert not changed
        assert part.sequence.tolist() == numbers
    elif column == "_vector":
        assert not lost
        assert changed == {*found}
        assert 0 < report.n_vectors_lost <= 16_384
    elif column in ("text", "n"):
        assert not lost
        assert 0 < len(changed) < 14_000
        nulls = sum(wanted[i][column] is not None for i in changed)
        assert nulls <= len(changed) <= report.nulls[column]
    else:
        assert 0 < len(lost) <= 16_384
        assert not changed


def test_a_flipped_bit_is_put_back(tmp_path):
    store = build(tmp_path)
    wanted = content(store.snapshot())
    rng = np.random.default_rng(0)
    for _ in range(3):
        damaged = [
            each for kind in ("seg", "vec") for each in tmp_path.glob(f"{kind}-*")
        ]
        for path in damaged:
            data = bytearray(path.read_bytes())
            data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
            path.write_bytes(data)
        report = store.repair()
        assert f"{len(damaged)} flipped bits were put back" in str(report)
        assert report.n_lost == 0
        assert not report.nulls
        assert content(store.snapshot()) == wanted
        assert store.verify().is_intact


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(block=st.binary(min_size=2, max_size=200), data=st.data())
def test_one_flipped_bit_is_told_from_two(block, data):
    first, second = data.draw(
        st.lists(
            st.integers(0, 8 * len(block) - 1), min_size=2, max_size=2, unique=True
        )
    )
    known, damaged = _blocks.crc32c(block), bytearray(block)
    assert flipped_bit(damaged, known) is None
    damaged[first // 8] ^= 1 << first % 8
    assert flipped_bit(damaged, known) == (first // 8, 1 << first % 8)
    damaged[second // 8] ^= 1 << second % 8
    assert flipped_bit(damaged, known) is None


@pytest.mark.parametrize("is_gone", [False, True])
def test_repair_without_the_newest_manifest(tmp_path, is_gone):
    store = build(tmp_path)
    wanted = content(store.snapshot())
    newest = tmp_path / "manifest-000002.json"
    newest.unlink()
    if not is_gone:
        newest.write_bytes(b"{}")
    with pytest.raises(ArtefactError, match="repair"):
        Store.open(tmp_path)
    with pytest.raises(ArtefactError, match="repair"):
        store.snapshot()
    assert not store.verify().is_intact
    assert store.repair().n_lost == 0
    assert content(store.snapshot()) == wanted
    assert store.verify().is_intact


@pytest.mark.parametrize("all_gone", [False, True])
def test_repair_without_any_manifest(tmp_path, all_gone):
    store = build(tmp_path)
    wanted = content(store.snapshot())
    for path in files(store):
        if path.name.startswith(("manifest-", "copy-")):
            data = path.read_bytes()
            path.write_bytes(bytes(len(data)) if all_gone else data.replace(b"1", b"2"))
    report = store.repair()
    assert "no manifest" in str(report)
    assert content(store.snapshot()) == wanted
    assert store.snapshot().fingerprint == "of a test"
    with store.writer() as writer:
        writer.append(rows([2000], 3, VECTORS))
        writer.commit()
    assert list(content(store.snapshot())) == [*wanted, 2000]


def test_repair_without_the_deletes(tmp_path):
    store = build(tmp_path)
    wanted = content(store.snapshot())
    next(tmp_path.glob("del-*")).unlink()
    report = store.repair()
    assert "34 deleted rows are there again" in str(report)
    assert report.n_undeleted == 34
    assert not report.is_complete
    found = content(store.snapshot())
    assert {i: found[i] for i in wanted} == wanted
    assert len(found) == 306


@pytest.mark.parametrize("ids", [{3}, range(0, 300, 9)])  # places, and a bit a row
def test_a_flipped_bit_of_deletes_is_put_back(tmp_path, ids):
    store = Store.create(tmp_path, VECTORS, n_bits=64, fingerprint="of a test")
    with store.writer() as writer:
        writer.append(rows(range(300), 0, VECTORS))
        writer.commit()
        writer.delete(ids)
        writer.commit()
    wanted = content(store.snapshot())
    (path,) = tmp_path.glob("del-*")
    clean = path.read_bytes()
    (segment,) = store.snapshot().parts
    known = segment.live
    n_bits = 8 * len(clean)
    for at in range(n_bits) if NIGHTLY else range(0, n_bits, 7):
        data = bytearray(clean)
        data[at // 8] ^= 1 << at % 8
        path.write_bytes(data)
        live, mended = mended_live(store._disk, segment.entry)
        assert mended
        np.testing.assert_array_equal(live, known)
    with pytest.raises(ArtefactError, match=r"verify --repair' keeps what is intact"):
        content(store.snapshot())
    (damage,) = store.verify().damages
    assert damage.file == str(path)
    assert f"{len(ids)} deletes depend on it" in damage.reason
    report = store.repair()
    assert "1 flipped bit was put back" in str(report)
    assert report.is_complete
    assert content(store.snapshot()) == wanted
    assert store.verify().is_intact


def test_deletes_that_cannot_be_mended_are_undone_and_told(tmp_path):
    store = build(tmp_path)
    with store.writer() as writer:
        writer.upsert(rows([1, 2, 3, 400], 7, VECTORS))
        writer.commit()
    wanted = content(store.snapshot())
    path = max(tmp_path.glob("del-*"), key=lambda p: p.stat().st_mtime_ns)
    data = bytearray(path.read_bytes())
    data[50] ^= 3
    path.write_bytes(data)
    assert "37 deletes depend on it" in str(store.verify())
    report = store.repair()
    found = content(store.snapshot())
    # Rows that were replaced have a later one of their id.
    assert "34 deleted rows are there again" in str(report)
    assert (report.n_lost, report.n_undeleted) == (0, 34)
    assert not report.is_complete
    assert {i: found[i] for i in wanted} == wanted
    assert len(found) == len(wanted) + 34


@pytest.mark.parametrize("mask", [1, 3])
def test_deletes_without_a_manifest(tmp_path, mask):
    store = build(tmp_path)
    wanted = content(store.snapshot())
    (path,) = tmp_path.glob("del-*")
    data = bytearray(path.read_bytes())
    data[-9] ^= mask
    path.write_bytes(data)
    for each in tmp_path.glob("*.json"):
        each.unlink()
    report = store.repair()
    n_back = 0 if mask == 1 else 34
    assert report.n_undeleted == n_back
    assert report.is_complete == (mask == 1)
    found = content(store.snapshot())
    assert {i: found[i] for i in wanted} == wanted
    assert len(found) == len(wanted) + n_back


def test_an_older_manifest_that_is_intact_is_told(tmp_path):
    store = build(tmp_path)
    for name in ("manifest-000002.json", "copy-000002.json"):
        (tmp_path / name).write_bytes(b"{}")
    report = store.repair()
    assert "neither the newest manifest nor its copy can be read" in str(report)


def test_an_intact_store_is_not_repaired(tmp_path):
    store = build(tmp_path)
    number = store.snapshot().number
    assert "nothing is damaged" in str(store.repair())
    assert store.snapshot().number == number
    assert "intact" in str(store.verify())


@pytest.mark.parametrize("change", [{"n_live": 5}, {"n_rows": 10**9}, {"first": 900}])
def test_a_forged_manifest_is_told(tmp_path, change):
    from fewbits.store._manifest import _digest

    build(tmp_path)
    path = tmp_path / "manifest-000002.json"
    made = json.loads(path.read_bytes())
    del made["sha256"]
    made["segments"][0].update(change)
    body = json.dumps(made)[1:].encode()
    (tmp_path / "copy-000002.json").unlink()
    path.write_bytes(b'{"sha256": "%s",\n' % _digest(b"\n" + body).encode() + body)
    with pytest.raises(FewbitsError):
        read_all(tmp_path)
