"""Damage in one of many blocks: told by each door that reads it, and by no other."""

import numpy as np
import pytest

from fewbits import Collection
from fewbits.collection import tools
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArtefactError, LockedError

N, WIDTH, N_RUNS = 32_768, 16, 16
BLOCK = 65_536
ENCODER = LinearEncoder(np.eye(WIDTH), np.zeros(WIDTH))
SIGNS = 1 - 2 * (np.arange(N_RUNS)[:, None] >> np.arange(WIDTH) & 1)
#: Each run has a code of its own, and vectors of rising length.
X = np.repeat(SIGNS, N // N_RUNS, axis=0) * np.linspace(1, 2, N)[:, None]
X = X.astype(np.float32)
FIRST = [*range(0, N, N // N_RUNS)]  # row of each run


def spoil(folder, pattern, values, run):
    """Change two bits of the first value of a run, and return the name of the file."""
    path = max(folder.glob(f"rows-*/{pattern}"), key=lambda path: path.stat().st_size)
    data = bytearray(path.read_bytes())
    data[data.index(values.tobytes()) + values[: FIRST[run]].nbytes + 1] ^= 3
    path.write_bytes(data)
    return path.name


@pytest.fixture(params=["float32", "int8"])
def vectors(request, tmp_path):
    """Return a folder, in which vectors of the tenth run are damaged, and the file."""
    folder = tmp_path / "c"
    col = Collection.create(folder, X, encoder=ENCODER, keep_vectors=request.param)
    (segment,) = col._version.rows.segments
    vectors = segment.vectors
    stored = vectors[0] if request.param == "int8" else vectors
    name = spoil(folder, "vec-*", stored, 10)
    del col, segment, vectors, stored
    return folder, name


DOORS = {
    "search": lambda col, run: col.search(X[[FIRST[run]]], 9),
    "by id": lambda col, run: col.search(ids=[FIRST[run]], k=9),
    "rows": lambda col, run: tools.vectors_at(
        col, np.arange(FIRST[run] - 9, FIRST[run] + 9)
    ),
    "a row": lambda col, run: tools.vectors_at(col, [FIRST[run]]),
}


@pytest.mark.parametrize("door", DOORS)
def test_vectors_are_read_where_their_checksum_is_right(vectors, door):
    folder, name = vectors
    call, col = DOORS[door], Collection.open(folder)
    answers = [call(col, run) for run in (1, 14)]  # of other blocks
    assert len(answers) == 2
    with pytest.raises(ArtefactError, match=name):
        call(col, 10)
    with pytest.raises(ArtefactError, match=name):
        call(col, 10)  # nor later


@pytest.mark.parametrize("door", ["vectors", "prefix", "reencode", "backup and all"])
def test_all_vectors_are_not_read(vectors, tmp_path, door):
    folder, name = vectors
    col = Collection.open(folder)
    doors = {
        "vectors": lambda: col.vectors,
        "prefix": lambda: col.save(tmp_path / "d"),
        "reencode": lambda: col.reencode(LinearEncoder(-np.eye(16), np.zeros(16))),
        "backup and all": lambda: Collection.open(backup(col, tmp_path)).vectors,
    }
    with pytest.raises(ArtefactError, match=name):
        doors[door]()


def backup(col, tmp_path):
    col.backup(tmp_path / "e")
    return tmp_path / "e"


@pytest.fixture
def ids(tmp_path):
    """Return a collection whose rising ids are damaged in the last block."""
    numbers = np.arange(N, dtype=np.int64) * 3
    Collection.create(tmp_path / "c", X, encoder=ENCODER, ids=numbers)
    return tmp_path / "c", spoil(tmp_path / "c", "seg-*", numbers, 13)


def test_rising_ids_are_looked_up_where_their_checksum_is_right(ids):
    folder, name = ids
    col = Collection.open(folder)
    for run in (0, 2, 5):
        number = 3 * FIRST[run]
        hits = col.search(ids=[number], k=1, rerank=False)
        assert hits.ids.shape == (1, 1)
    for number in (3 * FIRST[14], 3 * FIRST[14] + 1):
        for call in (
            lambda number=number: col.get([number]),
            lambda number=number: col.delete([number], missing_ok=True),
            lambda number=number: col.upsert(X[:1], ids=[number]),
            lambda number=number: number in col,
        ):
            with pytest.raises(ArtefactError, match=name):
                call()
    assert Collection.open(folder).version == col.version


def test_rows_that_come_while_all_are_encoded_anew_are_not_lost(tmp_path):
    """Who replaces the rows has the lock of the store that goes, too."""
    folder = tmp_path / "c"
    Collection.create(folder, X[::64], encoder=ENCODER, keep_vectors="float32")
    col, other, n_refused = Collection.open(folder), Collection.open(folder), 0

    def meanwhile(*_):
        nonlocal n_refused
        with pytest.raises(LockedError, match="is being changed by"):
            other.add(X[:1], timeout=0)
        n_refused += 1

    col.reencode(LinearEncoder(-np.eye(WIDTH), np.zeros(WIDTH)), progress=meanwhile)
    assert n_refused
    assert len(Collection.open(folder)) == len(X[::64])
