"""Power fails while a collection is repaired: another repair comes to the same rows."""

import pytest

from fewbits.errors import ArtefactError
from fewbits.store import Store
from tests.store._simulated import SimulatedDisk, simulated_store
from tests.store._sizes import NIGHTLY, small_segments
from tests.store._tables import VECTORS, changed, content, live_positions, rows


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    small_segments(monkeypatch)


def flip(mask, *prefixes):
    """Return what changes bits in the middle of all files of some kinds."""

    def hurt(files):
        for name in sorted(files):
            if name.startswith(prefixes):
                data = files[name].data
                data[len(data) // 2] ^= mask

    return hurt


def cut(*prefixes):
    def hurt(files):
        for name in sorted(files):
            if name.startswith(prefixes):
                del files[name].data[-5:]

    return hurt


def remove(*prefixes):
    def hurt(files):
        for name in [each for each in files if each.startswith(prefixes)]:
            del files[name]

    return hurt


def newest(files):
    """Damage the newest manifest and its copy."""
    last = max(name for name in files if name.startswith("manifest-"))
    flip(1, last, last.replace("manifest", "copy"))(files)


def first(hurt, prefix):
    """Return what hurts only the first file of a kind."""
    return lambda files: hurt(min(n for n in files if n.startswith(prefix)))(files)


def flip_first(mask, prefix):
    return first(lambda name: flip(mask, name), prefix)


DAMAGES = {
    "a bit of rows": [flip(1, "seg-")],
    "a bit of rows and of deletes": [flip(1, "seg-", "del-")],
    "rows of one segment": [flip_first(3, "seg-")],
    "a whole segment": [first(remove, "seg-")],
    "vectors of one segment": [flip_first(3, "vec-")],
    "deletes": [flip(3, "del-")],
    "deletes cut": [cut("del-")],
    "sums": [flip(3, "sum-")],
    "sums and rows": [remove("sum-"), flip_first(1, "seg-")],
    "a bit of changed values": [flip(1, "upd-")],
    "changed values": [first(remove, "upd-")],
    "changed values and a bit of rows": [flip(3, "upd-"), flip(1, "seg-")],
    "the copy": [first(remove, "manifest-000003")],
    "the newest manifest": [newest],
    "the newest manifest and rows": [newest, flip_first(3, "seg-")],
    "the newest manifest and a bit of rows": [newest, flip(1, "seg-")],
}


def damaged_disk(hurts):
    """Return a disk with two segments, of which both have deletes, and damage."""
    disk = SimulatedDisk()
    store = simulated_store(disk, VECTORS)
    with store.writer() as writer:
        writer.append(rows(range(40), 0, VECTORS))
        writer.commit()
        writer.upsert(rows([*range(40, 50), 7], 1, VECTORS))
        writer.commit()
        writer.delete([2, 3, 5, 42])
        writer.update(changed([9, 11, 44], 1, VECTORS))
        writer.commit()
    assert len([n for n in disk.names_ if n.startswith("del-")]) == 2
    for hurt in hurts:
        hurt(disk.names_)
    for inode in disk.names_.values():
        inode.synced = len(inode.data)
    disk.durable, disk.pending = dict(disk.names_), []
    return disk


def readable(store):
    """Return the rows of each part, None where they are damaged."""
    found = []
    for part in store.snapshot().segments:
        try:
            rows = zip(part.whole().to_pylist(), part.ids.to_pylist(), strict=True)
            alive = {*live_positions(part)}
            found.append([row for i, row in enumerate(rows) if i in alive])
        except ArtefactError:
            found.append(None)
    return found


class Run:
    """Repairs, and looks at each disk that a crash may leave."""

    def __init__(self, hurts, drop_rows):
        self.disk, known = damaged_disk(hurts), damaged_disk(hurts)
        self.drop_rows = drop_rows
        Store(known).repair(drop_rows=drop_rows)
        self.wanted = readable(Store(known))
        self.seen, self.n_crashes = set(), 0

    def go(self):
        self.disk.after = self.look
        Store(self.disk).repair(drop_rows=self.drop_rows)
        assert readable(Store(self.disk)) == self.wanted

    def look(self, disk):
        if not NIGHTLY and disk.operations[-1].startswith("write"):
            return
        for crashed in disk.crashes(4 if NIGHTLY else 0, self.seen):
            self.n_crashes += 1
            if NIGHTLY or self.n_crashes % 12 == 1:
                self.check(crashed, disk.operations[-1])

    def check(self, crashed, after):
        Store(crashed).repair(drop_rows=self.drop_rows)
        assert readable(Store(crashed)) == self.wanted, after
        if None not in self.wanted:
            assert Store(crashed).verify().is_intact, after
            content(Store(crashed).snapshot())


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_repair_that_was_cut_off_is_done_again(kind):
    run = Run(DAMAGES[kind], drop_rows=True)
    run.go()
    assert any(run.wanted)
    assert None not in run.wanted
    assert run.n_crashes > 5


@pytest.mark.parametrize("also", ["a bit of rows", "deletes", "sums", "changed values"])
def test_rows_that_may_not_go_stay_as_they_are(also):
    run = Run([flip_first(3, "vec-"), *DAMAGES[also]], drop_rows=False)
    run.go()
    assert None in run.wanted


def test_no_older_state_is_taken_unasked():
    with pytest.raises(ArtefactError, match="version 2, of which"):
        Run([newest], drop_rows=False)
