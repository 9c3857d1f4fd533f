"""A store beside a dictionary: whatever is done to both, they hold the same."""

import os

import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from fewbits.errors import ArgumentError
from fewbits.store import Store
from tests.store._simulated import MODES, SimulatedDisk, simulated_store
from tests.store._sizes import NIGHTLY, small_segments
from tests.store._tables import SCHEMA, VECTORS, after, changed, content, expected, rows

IDS = st.lists(st.integers(0, 40), max_size=12, unique=True)


class Machine(RuleBasedStateMachine):
    """`saved` is what was committed, `here` what the writer sees."""

    texts = False

    @initialize(
        vectors=st.booleans(), segment_bytes=st.sampled_from([300, 3000, 1 << 20])
    )
    def begin(self, vectors, segment_bytes):
        schema = VECTORS if vectors else SCHEMA
        if self.texts:
            schema = schema.set(0, pa.field("_id", pa.large_string()))
        self.schema, self.segment_bytes = schema, segment_bytes
        self.disk = SimulatedDisk()
        self.store = simulated_store(self.disk, schema)
        self.saved, self.here, self.held = {}, {}, {}
        self.seed = self.next_id = 0
        self.numbers = {}
        self.open()

    def open(self):
        self.context = self.store.writer(segment_bytes=self.segment_bytes)
        self.writer = self.context.__enter__()

    def close(self):
        self.context.__exit__(None, None, None)

    def made(self, ids):
        self.seed += 1
        return rows(self.named(ids), self.seed, self.schema)

    def named(self, ids):
        return [f"item {i}" for i in ids] if self.texts else ids

    @rule(ids=IDS)
    def append(self, ids):
        table = self.made(ids)
        if any(name in self.here for name in self.named(ids)):
            with pytest.raises(ArgumentError, match="upsert"):
                self.writer.append(table)
        else:
            self.writer.append(table)
            self.put(table)

    @rule(ids=IDS)
    def upsert(self, ids):
        table = self.made(ids)
        known = sum(name in self.here for name in self.named(ids))
        assert self.writer.upsert(table) == known
        self.put(table)

    def put(self, table):
        for name, row in expected(table).items():
            self.here.pop(name, None)
            self.here[name] = row
            if not self.texts:
                self.next_id = max(self.next_id, name + 1)

    @precondition(lambda self: not self.texts and self.next_id < 200)
    @rule(n=st.integers(1, 5))
    def append_without_ids(self, n):
        wanted = list(range(self.next_id, self.next_id + n))
        table = self.made(wanted)
        assert self.writer.append(table.drop_columns("_id")).to_pylist() == wanted
        self.put(table)

    @rule(ids=IDS)
    def delete(self, ids):
        names = self.named(ids)
        known = [name for name in names if name in self.here]
        assert self.writer.delete(names) == len(known)
        for name in known:
            del self.here[name]

    @rule()
    def commit(self):
        self.writer.commit()
        self.saved = dict(self.here)
        self.compare()

    @rule()
    def reopen(self):
        self.close()
        self.here = dict(self.saved)
        self.store = Store(self.disk)
        self.open()
        self.next_id = self.writer.manifest.next_id
        self.schema = self.writer.manifest.schema

    @rule()
    def compact(self):
        number = self.writer.compact()
        self.saved = dict(self.here)
        self.compare()
        for part in self.store.snapshot(number).segments:
            assert part.live is None

    @rule(ids=IDS, column=st.sampled_from(["text", "n", "more"]))
    def update(self, ids, column):
        names = [name for name in self.named(ids) if name in self.here]
        if column in self.schema.names:
            self.seed += 1
            table = changed(names, self.seed, self.schema, column)
            self.writer.update(table)
            self.here = after(self.here, table)

    @rule()
    def add_column(self):
        if "more" not in self.schema.names:
            self.schema = self.schema.append(pa.field("more", pa.string()))
            self.writer.retype(self.schema)
            self.here = {k: {**row, "more": None} for k, row in self.here.items()}

    @rule()
    def look_at_what_is_pending(self):
        assert list(content(self.writer.pending()).items()) == list(self.here.items())

    @rule()
    def hold(self):
        snapshot = self.store.snapshot()
        self.held[snapshot.number] = snapshot, dict(self.saved)

    @rule()
    def let_go(self):
        for number, (snapshot, wanted) in self.held.items():
            assert content(snapshot) == wanted, number
            snapshot.close()
        self.held.clear()

    @rule(
        mode=st.sampled_from(MODES),
        mask=st.integers(0, 2**20),
        seed=st.integers(0, 9),
    )
    def lose_power(self, mode, mask, seed):
        kept = [i for i in range(len(self.disk.pending)) if mask >> i % 20 & 1]
        self.disk = self.disk.crashed(mode, kept, seed)
        self.store, self.here = Store(self.disk), dict(self.saved)
        self.held.clear()
        self.open()
        self.next_id = self.writer.manifest.next_id
        self.schema = self.writer.manifest.schema
        self.compare()

    @rule(which=st.integers(0, 99), at=st.integers(0, 10**6), bit=st.integers(0, 8))
    def garble_what_is_derived(self, which, at, bit):
        names = sorted(n for n in self.disk.names_ if n.startswith(("ids-", "copy-")))
        if not names:
            return
        name = names[which % len(names)]
        content = self.disk.names_[name].data
        if content and bit < 8:
            content[at % len(content)] ^= 1 << bit
        elif name.startswith("ids-"):
            del self.disk.names_[name]

    def compare(self):
        snapshot = self.store.snapshot()
        assert list(content(snapshot).items()) == list(self.saved.items())
        # Numbers of rows are not used again: each belongs to one id for ever.
        for part in snapshot.segments:
            ids = part.ids.to_pylist()
            for number, name in zip(part.row_numbers.tolist(), ids, strict=True):
                assert self.numbers.setdefault(number, name) == name
        names = pa.array(self.named(range(45)), self.schema.field("_id").type)
        places = [part.find(names) for part in snapshot.segments]
        for i, name in enumerate(names.to_pylist()):
            hits = [(p, at[i]) for p, at in zip(snapshot.segments, places, strict=True)]
            hits = [(part, at) for part, at in hits if at >= 0]
            assert len(hits) == (name in self.saved)
            for part, at in hits:
                assert part.ids[at].as_py() == name

    def teardown(self):
        if hasattr(self, "store"):
            self.let_go()
            self.commit()
            self.close()
            assert self.store.verify().is_intact or self.store.repair().is_complete
            assert self.store.verify().is_intact
            self.compare()


class TextMachine(Machine):
    texts = True


@pytest.mark.parametrize(
    ("machine", "inline"),
    [(Machine, False), (Machine, True), (TextMachine, True)],
    ids=["numbers", "in the manifest", "texts"],
)
def test_a_store_is_a_dictionary(machine, inline, monkeypatch):
    small_segments(monkeypatch, inline=inline)
    n = int(os.environ.get("FEWBITS_RUNS", 5000 if NIGHTLY else 50))
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=n, stateful_step_count=30 if NIGHTLY else 15, deadline=None
        ),
    )
