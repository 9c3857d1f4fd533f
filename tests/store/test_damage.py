"""Flipped bits, cut files and forged ones: told before anything wrong is answered."""

import random

import numpy as np
import pyarrow as pa
import pytest

from fewbits.errors import ArtefactError, FewbitsError
from fewbits.store import Store
from tests.store import _format
from tests.store._sizes import NIGHTLY, small_segments
from tests.store._tables import TEXT_IDS, VECTORS, changed, content, rows


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
        writer.update(changed([5, 7, 40], 2, schema))
        writer.commit()
    assert len(store.snapshot().segments) == 2
    return store


def files(store):
    return sorted(p for p in store.folder.iterdir() if p.name != "LOCK")


def needed(store):
    """Return the files that are not derived from others, and no older manifests."""
    number = store.snapshot().number
    return [
        path
        for path in files(store)
        if not path.name.startswith(("ids-", "copy-", "damaged-"))
        and (not path.name.startswith("manifest") or f"{number:06d}" in path.name)
    ]


def read_all(folder):
    with Store(folder).snapshot() as snapshot:
        found = content(snapshot)
        ids = pa.array(range(400))
        places = [part.find(ids).tolist() for part in snapshot.segments]
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


def flip(path, at, mask=3):
    """Change bits of a byte; two cannot be put back."""
    data = bytearray(path.read_bytes())
    data[at] ^= mask
    path.write_bytes(data)
    return data


def test_one_broken_segment_does_not_hide_another(tmp_path):
    store = build(tmp_path)
    first, second = store.snapshot().segments
    next(tmp_path.glob(f"seg-{first.entry.token}*")).unlink()
    first, second = store.snapshot().segments
    with pytest.raises(ArtefactError, match="missing"):
        _ = first.codes
    assert second.codes.shape == (6, 8)
    with store.writer() as writer:
        writer.append(rows([1000], 5, VECTORS).slice(0, 1))
        writer.commit()
    report = store.repair()
    assert (report.n_lost, report.n_damaged) == (0, first.n_live)
    report = store.repair(drop_rows=True)
    assert (report.n_lost, report.n_damaged) == (first.n_live, 0)
    assert list(content(store.snapshot())) == [305, *range(300, 305), 1000]


@pytest.fixture(params=[VECTORS, VECTORS.set(0, TEXT_IDS.field("_id"))])
def large(request, tmp_path):
    """Return a store with a segment of many blocks, which is not small, and another."""
    schema = request.param
    store = Store.create(tmp_path, schema, n_bits=64, fingerprint="of a test")
    texts = schema.field("_id").type == pa.large_string()
    ids = [f"item {i}" if texts else i for i in range(7, 20_008)]
    with store.writer() as writer:
        # One row goes, so that the numbers of the others are written.
        gone = "gone" if texts else 30_000
        writer.append(rows([ids[0], gone, *ids[1:20_000]], 0, schema))
        writer.commit()
        writer.delete([gone])
        writer.compact()
        writer.append(rows(ids[20_000:], 0, schema))
        writer.commit()
    return store


def places(store):
    """Return a path and the place of the first value, for each column of a part."""
    part = store.snapshot().segments[0]
    table = part.table()
    columns = {
        "_row": part.row_numbers,
        "_id": part.ids.buffers()[-1],
        "_code": part.codes,
        "text": table["text"].chunk(0).buffers()[2],
        "n": table["n"].to_numpy(),
        "_vector": part.vectors,
    }
    for name, values in columns.items():
        kind = "vec" if name == "_vector" else "seg"
        (path,) = store.folder.glob(f"{kind}-{part.entry.token}*")
        yield name, path, path.read_bytes().index(bytes(memoryview(values)))


def test_verify_names_each_flip_with_its_rows(large):
    part, _ = large.snapshot().segments
    widths = {"_row": 8, "_id": 8, "_code": 8, "n": 8, "_vector": 16}
    for name, path, start in [*places(large)]:
        clean = path.read_bytes()
        for row in (0, 9_000, 19_999):
            if name == "text" or (name == "_id" and part.ids.type != "int64"):
                texts = part.ids if name == "_id" else part.table()[name]
                offset = sum(len(text or "") for text in texts[:row].to_pylist())
            else:
                offset = widths[name] * row
            flip(path, start + offset)
            (damage,) = large.verify().damages
            path.write_bytes(clean)
            assert damage.file == str(path)
            first, last = damage.bytes
            assert first <= start + offset < last <= first + _format.BLOCK
            assert name in damage.columns
            assert damage.positions[0] <= row < damage.positions[1]
            assert row != 9_000 or damage.positions[1] - damage.positions[0] < 16_400
            assert f"{path} bytes {first}-{last}, positions" in str(damage)


def read_column(store, name):
    """Read a column of the first part, of files that are opened anew."""
    part = store.snapshot().segments[0]
    readers = {"_id": lambda: part.ids, "_code": lambda: part.codes}
    readers["_vector"] = part.check_vectors
    readers.get(name, lambda: part.table([name]))()


def test_each_column_is_checked_before_it_is_read(large):
    columns = [each for each in places(large) if each[0] != "_row"]
    for name, path, start in columns:
        clean = path.read_bytes()
        flip(path, start + 80_000)
        with pytest.raises(ArtefactError, match=path.name):
            read_column(large, name)
        for other, another, at in columns:
            if abs(start - at) > 3 * _format.BLOCK or another != path:
                read_column(large, other)
        path.write_bytes(clean)


def test_a_damaged_segment_stays_until_it_may_go(large):
    part, other = large.snapshot().segments
    rest = rows(other.ids.to_pylist(), 0, large.snapshot().schema).to_pylist()
    clean = {path: path.read_bytes() for path in files(large)}
    middle = {"_row": 80_000, "_id": 80_000, "_code": 80_000, "text": 80_000}
    middle |= {"n": 80_000, "_vector": 160_000}
    for name, path, start in [*places(large)]:
        number = large.snapshot().number
        data = flip(path, start + middle[name])
        report = large.repair()
        assert (report.n_lost, report.n_damaged) == (0, 20_000)
        assert report.n_rows == 20_001
        assert not report.is_complete
        assert "--drop-rows" in str(report)
        assert large.snapshot().number == number  # nothing has changed
        assert path.read_bytes() == data
        ids = part.ids.to_pylist()[:1000]
        assert [*report.damaged_ids] == ([] if name == "_id" else ids)
        path.write_bytes(clean[path])
    path.write_bytes(data)
    report = large.repair(drop_rows=True)
    assert [*report.lost_ids] == ids
    assert (report.n_lost, report.n_damaged, report.n_rows) == (20_000, 0, 1)
    assert large.verify().is_intact
    (row,) = content(large.snapshot()).items()
    assert [{"_id": row[0], **row[1]}] == rest
    for name in part.entry.names():  # all of it stays, and is not touched
        kept = path.with_name(f"damaged-{name}").read_bytes()
        assert kept == (data if name == path.name else clean[path.with_name(name)])
    assert "stays in the files damaged-*" in str(report)


def test_a_flipped_bit_is_put_back(tmp_path):
    store = build(tmp_path)
    wanted = content(store.snapshot())
    rng = np.random.default_rng(0)
    for kinds in [("seg", "vec"), ("seg",), ("sum",), ("sum", "seg", "vec", "del")]:
        damaged = [each for kind in kinds for each in tmp_path.glob(f"{kind}-*")]
        clean = [path.read_bytes() for path in damaged]
        for path, data in zip(damaged, clean, strict=True):
            flip(path, rng.integers(len(data)), 1 << int(rng.integers(8)))
        report = store.repair()
        assert report.is_complete
        assert content(store.snapshot()) == wanted
        assert store.verify().is_intact
        # What was mended is what was written.
        for path, data in zip(damaged, clean, strict=True):
            if path.name.startswith(("seg", "vec")):
                assert data in [each.read_bytes() for each in files(store)]
    assert "5 flipped bits were put back" in str(report)  # and sums were made again


def test_what_stands_before_and_behind_the_values_is_put_back(tmp_path):
    store = build(tmp_path)
    wanted = content(store.snapshot())
    for path in [*tmp_path.glob("seg-*"), *tmp_path.glob("vec-*")]:
        data = path.read_bytes()
        path.write_bytes(bytes(90) + data[90:-90] + bytes(90))
    assert store.repair().is_complete
    assert store.verify().is_intact
    assert content(store.snapshot()) == wanted


def test_one_flipped_bit_is_told_from_two(tmp_path):
    store = build(tmp_path, 20)
    (path, *_) = sorted(tmp_path.glob("seg-*"))
    clean = path.read_bytes()
    sums = path.with_name(f"sum-{path.stem[4:]}.bin").read_bytes()
    (_, head, tail, n_bytes), *_ = _format.sums(sums)[1]
    rng = random.Random(0)
    for _ in range(1000 if NIGHTLY else 40):
        bits = rng.sample(range(8 * len(head), 8 * (n_bytes - len(tail))), 2)
        for at in bits:
            flip(path, at // 8, 1 << at % 8)
        assert store.repair().n_damaged > 0
        path.write_bytes(clean)
    assert store.snapshot().number == 2


@pytest.mark.parametrize("is_gone", [False, True])
def test_sums_are_made_again(tmp_path, is_gone):
    store = build(tmp_path)
    wanted = content(store.snapshot())
    for path in tmp_path.glob("sum-*"):
        path.write_bytes(path.read_bytes()[:40])
        if is_gone:
            path.unlink()
    assert len(store.verify().damages) == 2
    assert store.repair().is_complete
    assert store.verify().is_intact
    assert content(store.snapshot()) == wanted


@pytest.mark.parametrize("is_gone", [False, True])
def test_repair_without_the_newest_manifest(tmp_path, is_gone):
    store = build(tmp_path)
    wanted = content(store.snapshot())
    newest = tmp_path / "manifest-000002.json"
    newest.unlink()
    if not is_gone:
        newest.write_bytes(b"{}")
    with pytest.raises(ArtefactError, match="repair"):
        Store(tmp_path).snapshot()
    assert not store.verify().is_intact
    assert store.repair().is_complete
    assert content(store.snapshot()) == wanted
    assert store.verify().is_intact


def test_it_goes_back_to_an_older_state_only_when_rows_may_go(tmp_path):
    store = build(tmp_path)
    before = {path.name: path.read_bytes() for path in files(store)}
    for name in ("manifest-000002.json", "copy-000002.json"):
        (tmp_path / name).write_bytes(b"{}")
    assert len(store.verify().damages) == 2
    with pytest.raises(ArtefactError, match="version 1, of which 300 rows"):
        store.repair()
    for name, data in before.items():
        if name[-7:] != "02.json":
            assert (tmp_path / name).read_bytes() == data
    report = store.repair(drop_rows=True)
    assert (report.n_commits_lost, report.n_lost, report.n_rows) == (1, 0, 300)
    assert not report.is_complete
    assert sorted(content(store.snapshot())) == list(range(300))
    assert store.verify().is_intact
    # What was committed later is not removed.
    kept = {path.name for path in tmp_path.glob("damaged-*")}
    later = {f"damaged-{n}" for n in before if not (tmp_path / n).exists()}
    assert kept >= {name for name in later if "-ids-" not in name}
    assert len(kept) >= 6


def test_without_any_manifest_nothing_is_guessed(tmp_path):
    store = build(tmp_path)
    for path in tmp_path.glob("*.json"):
        path.write_bytes(bytes(path.stat().st_size))
    before = {path: path.read_bytes() for path in files(store)}
    assert len(store.verify().damages) == 2
    for drop_rows in (False, True):
        with pytest.raises(ArtefactError, match="no manifest can be read"):
            store.repair(drop_rows=drop_rows)
    for path in tmp_path.glob("*.json"):
        path.unlink()
        del before[path]
    (damage,) = store.verify().damages
    assert "all of its manifests are missing" in damage.reason
    with pytest.raises(ArtefactError, match="no manifest can be read"):
        store.repair(drop_rows=True)
    assert {path: path.read_bytes() for path in files(store)} == before


def test_repair_without_the_deletes(tmp_path):
    store = build(tmp_path)
    wanted = content(store.snapshot())
    next(tmp_path.glob("del-*")).unlink()
    report = store.repair()
    assert "34 deleted rows are there again" in str(report)
    assert report.n_undeleted == 34
    assert not report.is_complete
    rest = content(store.snapshot())
    assert {i: rest[i] for i in wanted} == wanted
    assert len(rest) == 306


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
    n_bits = 8 * path.stat().st_size
    for at in range(n_bits) if NIGHTLY else range(0, n_bits, 29):
        (path,) = tmp_path.glob("del-*")
        flip(path, at // 8, 1 << at % 8)
        with pytest.raises(ArtefactError, match="verify --repair"):
            content(store.snapshot())
        (damage,) = store.verify().damages
        assert damage.file == str(path)
        assert f"{len(ids)} deletes depend on it" in damage.reason
        report = store.repair()
        assert "1 flipped bit was put back" in str(report)
        assert report.is_complete
        assert content(store.snapshot()) == wanted
    assert store.verify().is_intact
    (segment,) = tmp_path.glob("seg-*")  # which need not be written again
    assert path.name.startswith(f"del-{segment.stem[4:]}")


@pytest.mark.parametrize("is_later_damaged", [False, True])
def test_deletes_that_cannot_be_mended_are_undone_and_told(tmp_path, is_later_damaged):
    store = build(tmp_path)
    with store.writer() as writer:
        writer.upsert(rows([1, 2, 3, 400], 7, VECTORS))
        writer.commit()
    wanted = content(store.snapshot())
    first, *_, last = store.snapshot().segments
    flip(max(tmp_path.glob("del-*"), key=lambda p: p.stat().st_mtime_ns), 50)
    assert "37 deletes depend on it" in str(store.verify())
    if is_later_damaged:  # which ids were replaced cannot be told
        last_ids = last.ids.to_pylist()
        start = last.ids.to_numpy().tobytes()
        (path,) = tmp_path.glob(f"seg-{last.entry.token}*")
        flip(path, path.read_bytes().index(start))
        report = store.repair()
        assert report.n_damaged == first.n_live + last.n_live
        assert report.n_undeleted == 0
        report = store.repair(drop_rows=True)
        assert report.n_lost == last.n_live
        for name in last_ids:
            wanted.pop(name, None)
        n_back = 37
    else:
        # Rows that were replaced have a later one of their id.
        report, n_back = store.repair(), 34
        assert "34 deleted rows are there again" in str(report)
        assert report.n_lost == 0
    assert report.n_undeleted == n_back
    assert not report.is_complete
    rest = content(store.snapshot())
    assert {i: rest[i] for i in wanted} == wanted
    assert len(rest) == len(wanted) + n_back


def test_an_intact_store_is_not_repaired(tmp_path):
    store = build(tmp_path)
    number = store.snapshot().number
    assert "nothing is damaged" in str(store.repair())
    assert store.snapshot().number == number
    assert "intact" in str(store.verify())


@pytest.mark.parametrize("change", [{"n_live": 5}, {"n_rows": 10**9}, {"first": 900}])
def test_a_forged_manifest_is_told(tmp_path, change):
    build(tmp_path)
    path = tmp_path / "manifest-000002.json"
    made = _format.manifest(path.read_bytes())
    made["segments"][0].update(change)
    (tmp_path / "copy-000002.json").unlink()
    path.write_bytes(_format.manifest_bytes(made))
    with pytest.raises(FewbitsError):
        read_all(tmp_path)


def test_changed_values_never_fall_back_unasked(tmp_path):
    store = build(tmp_path)
    with store.writer() as writer:
        writer.update(changed([6, 7], 3, VECTORS, "n"))
        writer.commit()
    wanted = content(store.snapshot())
    (path,) = tmp_path.glob("upd-*")
    data = path.read_bytes()
    flip(path, 500, 4)
    assert store.repair().is_complete  # one bit
    assert content(store.snapshot()) == wanted
    for hurt in (lambda path: path.unlink(), lambda path: flip(path, 500)):
        (path,) = tmp_path.glob("upd-*")
        data = path.read_bytes()
        hurt(path)
        (damage,) = store.verify().damages
        assert (damage.file, damage.columns) == (str(path), ("text", "n"))
        assert "4 rows" in damage.reason
        part, other = store.snapshot().segments
        for read in (
            lambda part=part: part.table(["n"]),
            lambda part=part: part.take(["text"], np.array([0])),
            lambda part=part: part.whole(),
        ):
            with pytest.raises(ArtefactError, match=path.name):
                read()
        assert (len(part.ids), len(part.codes), other.n_live) == (300, 300, 6)
        with (
            store.writer() as writer,
            pytest.raises(ArtefactError, match=path.name),
        ):
            writer.compact()
        report = store.repair()
        assert not report.is_complete
        assert (report.n_lost, report.n_damaged) == (0, 0)
        assert [path.name in line for line in report.damaged_values] == [True]
        assert "--drop-rows" in str(report)
        path.write_bytes(data)
        assert content(store.snapshot()) == wanted
    flip(path, 500)
    report = store.repair(drop_rows=True)
    (line,) = report.reverted_values
    assert (report.n_lost, report.is_complete) == (0, False)
    assert "text, n of 4 rows" in line
    assert path.with_name(f"damaged-{path.name}").exists()
    table = rows(np.random.default_rng(0).permutation(300).tolist(), 0, VECTORS)
    before = {row.pop("_id"): row for row in table.to_pylist()}
    assert content(store.snapshot()) == {
        **wanted,
        **{i: before[i] for i in (5, 6, 7, 40)},
    }
    assert store.verify().is_intact


def test_a_flipped_bit_of_many_changed_values_is_put_back(tmp_path):
    store = build(tmp_path)
    ids = [i for i in range(50) if i % 9]
    texts = pa.array([f"{i}" * 15_000 for i in ids])
    with store.writer() as writer:
        writer.update(pa.table({"_id": ids, "text": texts}))
        writer.commit()
    wanted = content(store.snapshot())
    (path,) = tmp_path.glob("upd-*")
    assert path.stat().st_size > 17 << 16
    flip(path, 900_000, 4)
    assert store.repair().is_complete
    assert content(store.snapshot()) == wanted


@pytest.mark.parametrize("is_gone", [False, True])
def test_changed_values_are_put_back_under_the_name_that_repair_tells(
    tmp_path, is_gone
):
    store = build(tmp_path)
    wanted = content(store.snapshot())
    (path,) = tmp_path.glob("upd-*")
    data = path.read_bytes()
    if is_gone:
        path.unlink()
    else:
        flip(path, 500)
    for segment in tmp_path.glob("seg-*"):
        flip(segment, segment.stat().st_size // 2, 4)
    (line,) = store.repair().damaged_values
    assert line.startswith(f"{path}: ")
    assert [*tmp_path.glob("upd-*")] == ([] if is_gone else [path])
    path.write_bytes(data)
    assert store.repair().is_complete
    assert content(store.snapshot()) == wanted
    assert store.verify().is_intact


def test_changed_values_that_cannot_be_parsed_are_told_by_repair(tmp_path):
    store = build(tmp_path)
    (path,) = tmp_path.glob("upd-*")
    table = pa.ipc.open_file(path.read_bytes()).read_all()
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_batch(table.take([2, 1, 0]).combine_chunks().to_batches()[0])
    data = path.read_bytes()
    sums = _format.block_sums(data)
    newest = tmp_path / "manifest-000002.json"
    made = _format.manifest(newest.read_bytes())
    made["segments"][0]["updates"][0]["file"] = {
        "n_bytes": len(data),
        "crc": _format.sum_of_sums(sums),
        "sums": sums,
    }
    newest.write_bytes(_format.manifest_bytes(made))
    assert "out of order" in str(store.verify())
    report = store.repair()
    assert not report.is_complete
    assert path.name in report.damaged_values[0]
    assert store.repair(drop_rows=True).reverted_values
    assert store.verify().is_intact


def test_what_versions_share_is_told_and_counted_once(tmp_path):
    store = build(tmp_path)
    with store.writer() as writer:
        writer.tag({"spring": 2})
        writer.delete([1])
        writer.commit()
    kinds = {"seg", "vec", "sum", "del", "upd", "ids"}
    sizes = [p.stat().st_size for p in tmp_path.iterdir() if p.name[:3] in kinds]
    assert store.verify().n_bytes == sum(sizes)
    damaged = [*tmp_path.glob("upd-*"), *[*tmp_path.glob("seg-*")][:1]]
    for path in damaged:
        flip(path, 500)
    told = [damage.file for damage in store.verify().damages]
    assert sorted(told) == sorted(map(str, damaged))


@pytest.mark.parametrize("kinds", [("seg",), ("vec",), ("seg", "vec", "upd")])
def test_a_flipped_bit_of_a_small_segment_is_put_back(tmp_path, monkeypatch, kinds):
    small_segments(monkeypatch, inline=True)
    store = build(tmp_path)
    assert not [*tmp_path.glob("sum-*")]
    wanted, rng = content(store.snapshot()), np.random.default_rng(0)
    for _ in range(4):
        for path in [each for kind in kinds for each in tmp_path.glob(f"{kind}-*")]:
            n_bytes = path.stat().st_size
            flip(path, rng.integers(n_bytes), 1 << int(rng.integers(8)))
        assert store.repair().is_complete
        assert content(store.snapshot()) == wanted
        assert store.verify().is_intact
    (path, *_) = tmp_path.glob("seg-*")
    flip(path, 900)
    assert not store.repair().is_complete
    with pytest.raises(ArtefactError, match=path.name):
        content(store.snapshot())


def test_no_id_of_a_lost_commit_is_given_again(tmp_path, monkeypatch):
    small_segments(monkeypatch, inline=True)
    store = build(tmp_path)
    for path in tmp_path.glob("*-000002.json"):
        path.write_bytes(b"{}")
    store.repair(drop_rows=True)
    with store.writer() as writer:
        assert (
            writer.append(rows([0], 0, VECTORS).drop_columns("_id"))[0].as_py() == 306
        )
