"""Open forged stores with a gigabyte of address space: ``python _hostile.py FOLDER``.

Each case forges a manifest, or a header of Arrow with sums that fit, and reads
everything. Whatever is told must be an error of ours, soon.
"""

import json
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
from fewbits.store import Store
from fewbits.store._blocks import block_sums
from fewbits.store._manifest import FileEntry, Manifest, _digest
from fewbits.store._sums import FileSums, lenient_sums, sums_bytes
from tests.store._tables import VECTORS, content, rows

NUMBERS = [0, 1, -1, 255, 2**16, 2**31, 2**32 - 1, 2**40, 2**62, 2**63, 2**64]
VALUES = [*NUMBERS, None, "", "x" * 9, [], {}, True, 1.5, [[]] * 3]


def forge_manifest(folder, rng):
    path = max(folder.glob("manifest-*.json"))
    made = json.loads(path.read_bytes())
    del made["sha256"]
    targets = [made, *made["segments"]]
    targets += [each["rows"] for each in made["segments"]]
    for _ in range(rng.randint(1, 3)):
        target = rng.choice(targets)
        name = rng.choice(sorted(target))
        target[name] = rng.choice(VALUES)
    body = b"\n" + json.dumps(made)[1:].encode()
    path.write_bytes(b'{"sha256": "%s",' % _digest(body).encode() + body)


def forge_bytes(folder, rng):
    """Change bytes of the frame of an Arrow file, and let all sums fit."""
    path = max(folder.glob("manifest-*.json"))
    manifest = Manifest.from_bytes(path.read_bytes(), str(path))
    entry = manifest.segments[0]
    sums = folder / f"sum-{entry.token}.bin"
    files, facts = lenient_sums(sums.read_bytes())
    number = rng.randrange(2)
    target = folder / f"{('seg', 'vec')[number]}-{entry.token}.arrow"
    data = bytearray(target.read_bytes())
    known = files[number]
    start, stop = known.body
    places = [*range(start), *range(stop, len(data))] * 3 + [*range(start, stop)]
    for _ in range(rng.randint(1, 4)):
        at = rng.choice(places)
        width = rng.choice([1, 2, 4, 8])
        data[at : at + width] = (rng.choice(NUMBERS) & (2**64 - 1)).to_bytes(
            8, "little"
        )[:width]
    data = data[: known.n_bytes]
    target.write_bytes(data)
    files[number] = FileSums(
        block_sums(data), bytes(data[:start]), bytes(data[stop:]), len(data)
    )
    sums.write_bytes(sums_bytes(files, facts))
    made = json.loads(path.read_bytes())
    del made["sha256"]
    new: FileEntry = files[number].entry
    name = ("rows", "vectors")[number]
    made["segments"][0][name] = {"n_bytes": new.n_bytes, "crc": new.crc}
    body = b"\n" + json.dumps(made)[1:].encode()
    path.write_bytes(b'{"sha256": "%s",' % _digest(body).encode() + body)


def main(n):
    folder = Path(tempfile.mkdtemp())
    clean = folder / "clean"
    store = Store.create(clean, VECTORS, n_bits=64, fingerprint="of a test")
    with store.writer() as writer:
        writer.append(rows(range(100), 0, VECTORS))
        writer.delete([4])
        writer.commit()
    list(content(store.snapshot()))
    limit = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, limit))
    told, longest = 0, 0.0
    for case in range(n):
        rng, forged = random.Random(case), folder / "forged"
        shutil.copytree(clean, forged)
        (forge_manifest if case % 2 else forge_bytes)(forged, rng)
        begin = time.process_time()
        try:
            with Store.open(forged).snapshot() as snapshot:
                content(snapshot)
                for part in snapshot.parts:
                    part.find(pa.array([1, 2, 3]))
        except FewbitsError:
            told += 1
        except AssertionError:
            pass  # other values, with sums that fit: nobody can tell
        longest = max(longest, time.process_time() - begin)
        shutil.rmtree(forged)
    shutil.rmtree(folder)
    sys.stdout.write(f"{told} {longest}\n")


if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"
    main(int(sys.argv[1]))
