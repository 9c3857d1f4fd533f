"""Changes in any order leave what a list of rows in Python holds after them."""

import random
import shutil

import numpy as np
import pyarrow as pa
import pytest

from fewbits import Collection
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError
from tests.store._sizes import NIGHTLY, small_segments

pytestmark = pytest.mark.filterwarnings(
    "ignore:the collection has no", "ignore:the new rows", "ignore:left out"
)
ENCODER = LinearEncoder(np.eye(4), np.zeros(4))
KINDS = {"int": pa.int64(), "text": pa.string(), "float": pa.float64()}


class Model:
    """Rows by their ids in order, columns with their kinds, and versions by names."""

    def __init__(self, path, rng):
        self.rng, self.path = rng, path
        self.columns, self.rows, self.next_id = {"a": "int", "b": "text"}, {}, 0
        self.tags, self.dropped = {}, {}
        ids = self.new_rows(8)
        table = self.table(ids).append_column("v", self.vectors(ids))
        self.col = Collection.create(path, table, column="v", encoder=ENCODER)

    def value(self, kind):
        if self.rng.random() < 0.2:
            return None
        number = self.rng.randrange(5)
        return {"int": number, "text": f"t{number}", "float": number / 2}[kind]

    def new_rows(self, n, ids=None):
        ids = [self.next_id + i for i in range(n)] if ids is None else ids
        for id in ids:
            self.rows.pop(id, None)
            self.rows[id] = {x: self.value(y) for x, y in self.columns.items()}
        self.next_id = max(self.next_id, max(ids) + 1)
        return ids

    def table(self, ids):
        columns = {
            x: pa.array([self.rows[i][x] for i in ids], KINDS[y])
            for x, y in self.columns.items()
        }
        return pa.table(columns) if columns else pa.table({"id": ids}).select([])

    def vectors(self, ids):
        return pa.array([[float((i >> j) % 2) - 0.5 for j in range(4)] for i in ids])

    # What may happen.

    def add(self, col):
        ids = self.new_rows(self.rng.randint(1, 6))
        table = self.table(ids)
        columns = {name: table[name] for name in table.column_names}
        assert col.add(self.vectors(ids).to_pylist(), columns=columns) == len(ids)

    def upsert(self, col):
        ids = [*self.some(), self.next_id + 3]
        self.new_rows(0, ids)
        table = self.table(ids)
        columns = {name: table[name] for name in table.column_names}
        col.upsert(self.vectors(ids).to_pylist(), ids=ids, columns=columns)

    def update(self, col):
        ids, name = self.some(), self.rng.choice("abcd")
        if not ids:
            return
        if name not in self.columns:
            self.columns[name] = self.rng.choice([*KINDS])
            for row in self.rows.values():
                row[name] = None
        for id in ids:
            self.rows[id][name] = self.value(self.columns[name])
        self.dropped.pop(name, None)
        names = [name, *self.rng.sample([*self.columns], min(1, len(self.columns)))]
        table = self.table(ids).select([*dict.fromkeys(names)])
        columns = {x: table[x] for x in table.column_names}
        col.update(None, ids=ids, columns=columns)

    def delete(self, col):
        ids = self.some()
        for id in ids:
            del self.rows[id]
        assert col.delete(ids) == len(ids)

    def drop(self, col):
        n = min(len(self.columns), self.rng.choice([1, 1, 2]))
        names = self.rng.sample([*self.columns], n)
        for name in names:
            self.dropped[name] = self.columns.pop(name)
            for row in self.rows.values():
                del row[name]
        col.drop_columns(names)

    def together(self, col):
        with col.transaction():
            for _ in range(3):
                self.rng.choice(CHANGES)(self, col)

    def tag(self, col):
        name = f"v{self.rng.randrange(4)}"
        if name in self.tags:
            col.untag(name)
        col.tag(name)
        rows = {id: dict(row) for id, row in self.rows.items()}
        self.tags[name] = rows, dict(self.columns)

    def restore(self, col):
        if self.tags:
            name = self.rng.choice([*self.tags])
            rows, columns = self.tags[name]
            self.rows = {id: dict(row) for id, row in rows.items()}
            self.columns = dict(columns)
            self.dropped = {}
            assert col.restore(name) == col.version

    def compact(self, col):
        col.compact()

    def reopen(self, col):
        """Open a copy of the folder, of which nothing was read before."""
        if self.path is not None:
            self.path = self.path.with_name(f"copy {self.rng.random()}")
            shutil.copytree(col.path, self.path)
            self.col = Collection.open(self.path)

    def repair(self, col):
        if self.path is not None:
            assert col.repair().is_complete

    def backup(self, col):
        if self.path is not None:
            target = self.path.with_name(f"backup {self.rng.random()}")
            col.backup(target)
            same(Collection.open(target), self.rows, self.columns)
            assert Collection.verify_folder(target).is_intact

    def flip(self, col):
        """Flip a bit of a file that only the newest version needs."""
        if self.path is not None and not self.tags:
            paths = [*self.path.glob("rows-*/seg-*"), *self.path.glob("rows-*/upd-*")]
            if not paths:
                return
            path = self.rng.choice(sorted(paths))
            data = bytearray(path.read_bytes())
            data[self.rng.randrange(len(data))] ^= 1 << self.rng.randrange(8)
            path.unlink()  # a copy of it may share its bytes
            path.write_bytes(data)
            assert Collection.repair_folder(self.path).is_complete
            self.col = Collection.open(self.path)

    def some(self):
        n = min(len(self.rows), self.rng.choice([1, 1, 2, 9]))
        return self.rng.sample([*self.rows], n)

    def check(self):
        same(self.col, self.rows, self.columns)
        for name, (rows, columns) in self.tags.items():
            same(self.col.at(name), rows, columns)
        for name in self.dropped:
            with pytest.raises(ArgumentError, match="no column"):
                self.col.delete(filter=f"{name} is null")
            with pytest.raises(ArgumentError, match="no column"):
                self.col.search([[1, 0, 0, 0]], group_by=name)
        if self.path is not None:
            assert self.col.verify().is_intact


def same(col, rows, columns):
    table = col.to_arrow()
    assert table.schema.names == ["id", *columns]
    assert table.to_pylist() == [{"id": id, **row} for id, row in rows.items()]
    assert col.get([*rows]) == [*rows.values()]
    for name, kind in columns.items():
        value = {"int": 3, "text": "t3", "float": 1.5}[kind]
        shown = f"'{value}'" if kind == "text" else value
        hits = col.search([[1, 0, 0, 0]], 99, filter=f"{name} = {shown}").ids
        expected = [id for id, row in rows.items() if row[name] == value]
        assert sorted(hits[hits >= 0]) == sorted(expected)


CHANGES = [
    Model.add,
    Model.upsert,
    Model.update,
    Model.update,
    Model.delete,
    Model.drop,
]
STEPS = [*CHANGES, Model.together, Model.tag, Model.restore, Model.compact]
STEPS += [Model.reopen, Model.repair, Model.backup, Model.flip]


@pytest.mark.parametrize("seed", range(300 if NIGHTLY else 6))
def test_what_is_there_is_what_was_changed(tmp_path, monkeypatch, seed):
    rng = random.Random(seed)
    if seed % 2:
        small_segments(monkeypatch, inline=seed % 4 == 1)
    model = Model(None if seed % 3 == 2 else tmp_path / "c", rng)
    for _ in range(25):
        rng.choice(STEPS)(model, model.col)
        model.check()
