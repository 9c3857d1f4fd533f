"""Open forged stores with a gigabyte of address space: ``python _hostile.py FOLDER``.

Each case forges a manifest, a header of Arrow with sums that fit, or a file of sums or
deletes whose own checksum fits. It reads everything, verifies and repairs. Whatever is
told must be an error of ours, soon.
"""

import contextlib
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa

from fewbits.errors import FewbitsError
from fewbits.store import Store, _deletes, _segment
from tests.store import _format
from tests.store._tables import VECTORS, changed, content, rows

NUMBERS = [0, 1, -1, 255, 2**16, 2**31, 2**32 - 1, 2**40, 2**62, 2**63, 2**64]
#: Columns that a file may be said to have, of which one is of another type.
SCHEMAS = [
    _format.schema_text(columns.set(i, pa.field(columns.names[i], kind)))
    for columns in (VECTORS, pa.schema([VECTORS.field(2), VECTORS.field(3)]))
    for i in range(len(columns))
    for kind in (pa.int64(), pa.binary(1), pa.string(), pa.list_(pa.int8(), 99))
]
VALUES = [*NUMBERS, None, "", "x" * 9, [], {}, True, 1.5, [[]] * 3]


def forge_manifest(folder, rng):
    path = max(folder.glob("manifest-*.json"))
    made = _format.manifest(path.read_bytes())
    targets = [made, *made["segments"]]
    targets += [each["rows"] for each in made["segments"]]
    targets += [x for each in made["segments"] for x in each["updates"]]
    for _ in range(rng.randint(1, 3)):
        target = rng.choice(targets)
        name = rng.choice(sorted(target))
        is_schema = name == "schema" and rng.random() < 0.8
        target[name] = rng.choice(SCHEMAS if is_schema else VALUES)
    path.write_bytes(_format.manifest_bytes(made))


def forge_bytes(folder, rng):
    """Change bytes of the frame of an Arrow file, and let all sums fit."""
    path = max(folder.glob("manifest-*.json"))
    made = _format.manifest(path.read_bytes())
    token = made["segments"][0]["token"]
    sums = folder / f"sum-{token}.bin"
    facts, files = _format.sums(sums.read_bytes())
    number = rng.randrange(2)
    target = folder / f"{('seg', 'vec')[number]}-{token}.arrow"
    data = bytearray(target.read_bytes())
    _, head, tail, n_bytes = files[number]
    start, stop = len(head), n_bytes - len(tail)
    places = [*range(start), *range(stop, len(data))] * 3 + [*range(start, stop)]
    for _ in range(rng.randint(1, 4)):
        at = rng.choice(places)
        width = rng.choice([1, 2, 4, 8])
        value = (rng.choice(NUMBERS) & (2**64 - 1)).to_bytes(8, "little")
        data[at : at + width] = value[:width]
    data = bytes(data[:n_bytes])
    target.write_bytes(data)
    numbers = _format.block_sums(data)
    files[number] = (numbers, data[:start], data[stop:], len(data))
    sums.write_bytes(_format.sums_bytes(facts, files))
    entry = {"n_bytes": len(data), "crc": _format.sum_of_sums(numbers)}
    made["segments"][0][("rows", "vectors")[number]] = entry
    path.write_bytes(_format.manifest_bytes(made))


def forge_values(folder, rng):
    """Change bytes of a file of changed values, and let its sum fit."""
    path = max(folder.glob("manifest-*.json"))
    made = _format.manifest(path.read_bytes())
    (update,) = made["segments"][0]["updates"]
    (target,) = folder.glob("upd-*")
    data = bytearray(target.read_bytes())
    for _ in range(rng.randint(1, 4)):
        at, width = rng.randrange(len(data)), rng.choice([1, 2, 4, 8])
        value = (rng.choice(NUMBERS) & (2**64 - 1)).to_bytes(8, "little")
        data[at : at + width] = value[:width]
    target.write_bytes(data)
    numbers = _format.block_sums(data)
    crc = _format.sum_of_sums(numbers)
    update["file"] = {"n_bytes": len(data), "crc": crc, "sums": numbers}
    path.write_bytes(_format.manifest_bytes(made))


def forge_deletes(folder, rng):
    """Change the head of a file of deletes, and its length."""
    (path,) = folder.glob("del-*")
    forge_sealed(path, rng, [32, 40, 48], range(16, len(path.read_bytes()) - 4))


def forge_sums(folder, rng):
    """Change the numbers of a file of sums, or the facts in it."""
    (path,) = folder.glob("sum-*")
    data = path.read_bytes()
    if rng.random() < 0.5:
        facts, files = _format.sums(data)
        for _ in range(rng.randint(1, 3)):
            target = rng.choice([facts, facts["rows"]])
            target[rng.choice(sorted(target))] = rng.choice(VALUES)
            if not isinstance(facts.get("rows"), dict):
                break
        path.write_bytes(_format.sums_bytes(facts, files))
    else:
        start = 24 + int.from_bytes(data[16:24], "little")  # of the first head
        heads = [16, start, start + 8, start + 16]
        forge_sealed(path, rng, heads, range(16, len(data) - 4))


def forge_sealed(path, rng, heads, others):
    """Change numbers of a file, and let the checksum at its end fit."""
    data = bytearray(path.read_bytes()[:-4])
    for _ in range(rng.randint(1, 3)):
        at = rng.choice(heads if rng.random() < 0.8 else others)
        number = rng.choice([*NUMBERS, rng.randrange(200)]) & (2**64 - 1)
        data[at : at + 8] = number.to_bytes(8, "little")
    if rng.random() < 0.3:
        del data[rng.randrange(len(data)) :]
    path.write_bytes(_format.sealed(data))


FORGERS = (forge_manifest, forge_bytes, forge_deletes, forge_sums, forge_values)


def main(n):
    _segment.INLINE = _deletes.INLINE = 0  # so that there are files of all kinds
    folder = Path(tempfile.mkdtemp())
    clean = folder / "clean"
    store = Store.create(clean, VECTORS, n_bits=64, fingerprint="of a test")
    with store.writer() as writer:
        writer.append(rows(range(100), 0, VECTORS))
        writer.commit()
        writer.delete([4])
        writer.update(changed([3, 7], 1, VECTORS))
        writer.update(changed([3, 8], 1, VECTORS, "n"))
        writer.drop({"n"})
        writer.commit()
    list(content(store.snapshot()))
    limit = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, limit))
    told, undetected, longest = 0, 0, 0.0
    for case in range(n):
        rng, forged = random.Random(case), folder / "forged"
        shutil.copytree(clean, forged)
        FORGERS[case % len(FORGERS)](forged, rng)
        begin = time.process_time()
        try:
            with Store(forged).snapshot() as snapshot:
                content(snapshot)
                for part in snapshot.segments:
                    part.find(pa.array([1, 2, 3]))
        except FewbitsError:
            told += 1
        except AssertionError:
            undetected += 1  # forged values with checksums that fit
        with contextlib.suppress(FewbitsError):
            store = Store(forged)
            store.verify()
            store.repair(drop_rows=case % 8 > 3)
        longest = max(longest, time.process_time() - begin)
        shutil.rmtree(forged)
    shutil.rmtree(folder)
    sys.stdout.write(f"{told} {undetected} {longest}\n")


if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"
    main(int(sys.argv[1]))
