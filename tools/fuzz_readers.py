"""Feed broken and strange files to the readers, and compare with independent ones.

    python -m tools.fuzz_readers --reader csv --minutes 10 --seed 1

Without a reader, all of them in turn. Whatever is fed raises nothing but a
`FewbitsError` in one line, or what the system says of a file; and what an independent
reader (`csv`, `json`, NumPy, pyarrow, h5py, Pillow) and ours both accept is the same.
Ends with exit status 1 where that does not hold; should a library crash, the file that
did it is left at the path that was printed.
"""

import argparse
import faulthandler
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

from PIL import Image

from fewbits.errors import FewbitsError
from tools._fuzz_readers import READERS, Case, patched_blocks

BYTES = [b"\0", b"\xff", b"\n", b"\r", b"\r\n", b'"', b'""', b",", b";", b"\t", b" "]
BYTES += [b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\x80", b"-", b"9" * 30, b"1e999", b"NaN"]
BYTES += [b"{", b"}", b"[", b"]", b":", b"\\", b"true", b"null", b"\x7f\xff\xff\xff"]
BYTES += [b"\xff\xff\xff\xff", b"PAR1", b"ARROW1", b"\x93NUMPY", b"\x1f\x8b", b"\xe2"]


def mutated(rng: random.Random, content: bytes) -> bytes:
    """Return the bytes with a few lost, doubled, flipped, moved or replaced."""
    found = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 4, 9))):
        place = rng.randrange(len(found) + 1)
        size = rng.choice((1, 1, 2, 4, 30))
        match rng.randrange(6):
            case 0:
                del found[place : place + size]
            case 1:
                found[place:place] = rng.choice(BYTES)
            case 2:
                found[place : place + size] = rng.choice(BYTES)
            case 3:
                found[place:place] = found[place : place + 20 * size]
            case 4 if found:
                found[place % len(found)] ^= 1 << rng.randrange(8)
            case _:
                del found[place:]
    return bytes(found)


def outcome(case: Case, path: Path) -> str:
    """Return what happened; what must not happen ends with an exclamation mark."""
    path.write_bytes(case.content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # Pillow's
        try:
            found = case.ours(path)
        except FewbitsError as error:
            return "several lines!" if "\n" in str(error) else "refused"
        except (FileNotFoundError, PermissionError):
            return "refused by the system"
        except Exception as error:
            return f"{type(error).__name__} {ascii(str(error))[:80]}!"
        warnings.simplefilter("ignore")
        try:
            expected = case.truth(path)
        except Exception:
            return "refused by the other alone"
    return "the same" if case.same(found, expected) else "another value!"


def main() -> int:
    """Fuzz the readers that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reader", choices=sorted(READERS))
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    faulthandler.enable()
    readers = [options.reader] if options.reader else sorted(READERS)
    return max([fuzz(name, options.minutes, options.seed) for name in readers])


def fuzz(reader: str, minutes: float, seed: int) -> int:
    """Return 1 where something happened that must not."""
    rng, counts = random.Random(seed), Counter[str]()
    folder = Path(tempfile.mkdtemp(prefix=f"fuzz-{reader}-"))
    print("files:", folder, flush=True)
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        case = READERS[reader](rng)
        if rng.random() < 0.6:
            case = case.of_bytes(mutated(rng, case.content))
        path = folder / f"case{case.suffix}"
        with patched_blocks(rng):
            result = outcome(case, path)
        counts[result] += 1
        if result.endswith("!") and counts[result] <= 5:
            kept = folder / f"{sum(counts.values())}{case.suffix}"
            kept.write_bytes(case.content)
            print(result, kept, ascii(case.content[:300]), flush=True)
    print(reader, sum(counts.values()), "files:", dict(counts.most_common()))
    return int(any(result.endswith("!") for result in counts))


if __name__ == "__main__":
    sys.exit(main())
