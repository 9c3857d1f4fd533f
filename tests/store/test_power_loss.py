"""Power fails after each operation; the old state is there then, or the new one."""

from pathlib import Path

import pytest

from fewbits.errors import ArtefactError
from fewbits.store import Store
from tests.store._simulated import SimulatedDisk, simulated_store
from tests.store._sizes import NIGHTLY, small_segments
from tests.store._tables import VECTORS, after, changed, content, expected, rows

#: A commit each: rows to put in, ids to delete, and ids to update.
STEPS = [
    ([*range(9)], [], []),
    ([17, 3, 9], [1], [5]),
    ([2, 20], [], [5, 7]),
    ([], [0, 17], []),
    ([*range(30, 40)], [9], [30]),
    ([*range(30, 42)], [], [2, 6]),
]
N_STEPS = len(STEPS) if NIGHTLY else 4


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    small_segments(monkeypatch)


class Loss(Exception):
    """The store came back as something that it never was."""


class Run:
    """Commits one step after another, and looks at each disk that a crash may leave."""

    def __init__(self, **disk):
        self.states, self.n_done, self.n_crashes = [None], 0, 0
        self.n_rebuilt = 0
        self.seen = {}
        self.disk = SimulatedDisk(after=self.look, **disk)

    def go(self, n_steps=N_STEPS):
        states = [{}]
        for seed, (ids, deleted, updated) in enumerate(STEPS):
            state = {**states[-1]}
            for name, row in expected(rows(ids, seed, VECTORS)).items():
                state.pop(name, None)
                state[name] = row
            state = after(state, changed(updated, seed, VECTORS))
            states.append({k: v for k, v in state.items() if k not in deleted})
        self.states += states
        store = simulated_store(self.disk, VECTORS)
        self.n_done = 1
        for seed, (ids, deleted, updated) in enumerate(STEPS[:n_steps]):
            with store.writer() as writer:
                if ids:
                    writer.upsert(rows(ids, seed, VECTORS))
                writer.delete(deleted)
                writer.update(changed(updated, seed, VECTORS))
                writer.commit()
                self.n_done += 1

    def look(self, disk):
        what = disk.operations[-1]
        if not NIGHTLY and what.startswith("write") and disk.n_operations % 12:
            return
        seen = self.seen.setdefault(self.n_done, set())
        for crashed in disk.crashes(4 if NIGHTLY else 1, seen):
            self.n_crashes += 1
            self.check(crashed, disk.operations[-1])

    def check(self, crashed, what):
        allowed = self.states[self.n_done : self.n_done + 2]
        try:
            found = content(Store(crashed).snapshot())
        except ArtefactError as error:
            found = None if "no manifest" in str(error) else error
        except AssertionError as error:
            found = error
        if found not in allowed:
            raise Loss(f"after {self.n_done} commits and {what}: {found}")
        if found is not None and self.n_crashes % (5 if NIGHTLY else 25) == 0:
            self.check_told(crashed, found)
            self.go_on(crashed, found)

    def check_told(self, crashed, found):
        """Check that nothing is called damaged, and only what has to be is rebuilt."""
        before, store = dict(crashed.state()[1]), Store(crashed)
        report = store.verify()
        assert report.is_intact, str(report)
        self.n_rebuilt += bool(report.to_rebuild)
        repaired = store.repair()
        assert repaired.rebuilt == report.to_rebuild
        after = dict(crashed.state()[1])
        paths = (str(crashed.folder / name) for name in {*before, *after})
        changed = {
            p for p in paths if before.get(Path(p).name) != after.get(Path(p).name)
        }
        missing = {path for path in changed if Path(path).name not in before}
        assert changed - missing == {*report.to_rebuild}
        assert {Path(path).name[:4] for path in missing} <= {"ids-"}
        assert content(store.snapshot()) == found
        assert store.verify().to_rebuild == ()

    def go_on(self, crashed, found):
        """Check that a writer can go on after the crash as if nothing had happened."""
        store = Store(crashed)
        with store.writer() as writer:
            writer.upsert(rows([5], 99, VECTORS))
            writer.commit()
        added = expected(rows([5], 99, VECTORS))
        assert content(store.snapshot()) == {**found, **added}


@pytest.mark.parametrize("inline", [False, True])
def test_the_old_state_or_the_new_one_is_there(monkeypatch, inline):
    small_segments(monkeypatch, inline=inline)
    run = Run()
    run.go()
    assert run.n_done > 4
    assert run.n_crashes > 250
    assert run.n_rebuilt > 2
    assert content(Store(run.disk).snapshot()) == run.states[run.n_done]


SYNCS = ["seg-", "vec-", "sum-", "del-", "upd-", "draft-"]


@pytest.mark.parametrize("sync", [*SYNCS, "folder 1", "folder 2", "parent"])
def test_each_sync_is_needed(sync):
    with pytest.raises(Loss):
        Run(without=sync).go()


def test_an_index_of_ids_needs_no_sync():
    run = Run(without="ids-")
    run.go(2)
    assert any(name.startswith("ids-") for name in run.disk.names())
