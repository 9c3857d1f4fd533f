"""Programs that tests run as processes: ``python -m tests.store._process WHAT ...``."""

import os
import random
import sys
import time

from fewbits.errors import FewbitsError
from fewbits.store import Store
from tests.store._tables import content, rows

N_ROWS = 20  # that are replaced at once, so that each state has a seed


def replace(folder, seed):
    """Replace all rows for ever; say which state is there."""
    store = Store(folder)
    for i in range(10**9):
        with store.writer(None, segment_bytes=1 << 12) as writer:
            writer.upsert(rows(range(N_ROWS), int(seed) + i))
            writer.commit()
            sys.stdout.write(f"{int(seed) + i}\n")
            sys.stdout.flush()


def append(folder, start, timeout):
    """Append one row, or say that the store is locked."""
    try:
        with Store(folder).writer(float(timeout)) as writer:
            writer.append(rows([int(start)], int(start)))
            time.sleep(0.02)
            writer.commit()
            sys.stdout.write("done\n")
    except FewbitsError as error:
        sys.stdout.write(f"{error}\n")


def read(folder, seconds):
    """Read again and again; each time all rows must be of one seed."""
    store, end, n = Store(folder), time.monotonic() + float(seconds), 0
    while time.monotonic() < end:
        with store.snapshot() as snapshot:
            check(content(snapshot))
        n += 1
    sys.stdout.write(f"{n}\n")


def check(found):
    """Return the seed of a state after checking that it is of one."""
    assert len(found) in (0, N_ROWS), found
    seeds = {row["text"].split()[-1] for row in found.values() if row["text"]}
    assert len(seeds) <= 1, seeds
    if not seeds:
        return None
    seed = int(seeds.pop())
    wanted = rows(range(N_ROWS), seed).to_pylist()
    assert [{"_id": i, **row} for i, row in found.items()] == wanted
    return seed


if __name__ == "__main__":
    random.seed(os.getpid())
    {"replace": replace, "append": append, "read": read}[sys.argv[1]](*sys.argv[2:])
