"""Rows to put into stores."""

import numpy as np
import pyarrow as pa

SCHEMA = pa.schema(
    {"_id": pa.int64(), "_code": pa.binary(8), "text": pa.string(), "n": pa.float64()}
)
TEXT_IDS = SCHEMA.set(0, pa.field("_id", pa.large_string()))
VECTORS = SCHEMA.append(pa.field("_vector", pa.list_(pa.float32(), 4)))


def rows(ids, seed=0, schema=SCHEMA):
    """Return a row for each id; ids, seeds and rows decide each value."""
    ids = list(ids)
    rng = np.random.default_rng([seed, len(ids)])
    codes = rng.integers(0, 256, (len(ids), 8), dtype=np.uint8)
    columns = {
        "_id": ids,
        "_code": [code.tobytes() for code in codes],
        "text": [None if i % 5 == 3 else f"{i} of {seed}" for i in range(len(ids))],
        "n": rng.normal(size=len(ids)),
    }
    if "_vector" in schema.names:
        columns["_vector"] = list(rng.normal(size=(len(ids), 4)).astype(np.float32))
    columns |= {name: [None] * len(ids) for name in schema.names if name not in columns}
    return pa.table(columns, schema=schema)


def changed(ids, seed, schema=SCHEMA, column="text"):
    """Return new values of a column of rows, null for some."""
    kind = schema.field(column).type
    values = [f"{i} then {seed}" if i % 4 else None for i in range(len(ids))]
    if kind == pa.float64():
        values = [None if value is None else float(seed) for value in values]
    return pa.table(
        {"_id": pa.array(ids, schema.field("_id").type), column: pa.array(values, kind)}
    )


def after(state, table):
    """Return what a snapshot holds after an update of rows that it held."""
    state = dict(state)
    for row in table.to_pylist():
        name = row.pop("_id")
        state[name] = {**state[name], **row}
    return state


def live_positions(part):
    live = np.ones(part.n_rows, bool) if part.live is None else part.live
    return np.flatnonzero(live).tolist()


def content(snapshot):
    """Return what a snapshot holds: its rows by id, in the order of their numbers."""
    found, last = {}, -1
    for part in snapshot.segments:
        records = part.table().to_pylist()
        ids, sequence = part.ids.to_pylist(), part.row_numbers.tolist()
        codes, vectors = part.codes, part.vectors
        part.check_vectors()
        for place in live_positions(part):
            assert sequence[place] > last
            last = sequence[place]
            row = {"_code": codes[place].tobytes(), **records[place]}
            if vectors is not None:
                row["_vector"] = vectors[place].tolist()
            assert ids[place] not in found
            found[ids[place]] = row
    assert len(found) == snapshot.n_live
    return found


def expected(*tables):
    """Return what a snapshot holds after these tables were upserted."""
    found = {}
    for table in tables:
        for row in table.to_pylist():
            name = row.pop("_id")
            found.pop(name, None)
            found[name] = row
    return found
