"""Feed broken and strange conditions to the filters, and compare with DuckDB.

    python -m tools.fuzz_filters --minutes 5 --seed 1

Whatever is fed raises nothing but `ArgumentError`, in one line; and what both accept
is true for the same rows. Ends with exit status 1 where that does not hold.
"""

import argparse
import random
import re
import sys
import time
from collections import Counter

import duckdb

from fewbits.collection.filters import matching_rows
from fewbits.errors import ArgumentError
from tests.collection.filters._conditions import CODES, N_BITS, TABLE, draw
from tests.collection.filters._duckdb import duckdb_rows

PIECE = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|\w+|[<>=!]+|\s+|.", re.DOTALL)
STRANGE = [
    *("(", ")", "'", '"', "`", ";", "--", "/*", "*/", "\x00", "\n", "\\", "%", "{{"),
    *("::", "||", "<=>", "->", "@", "#", "?", ":x", "[", "]", "^", "~", "&", "\u00a0"),
    *("\ud800", "日", "é", "\u202e", "0x1", "1e5", "1e400", ".5", "5.", "1_0"),
    *("SELECT", "CASE", "END", "CAST", "lower(s)", "__import__('os')", "EXISTS", "bit"),
    *("TRUE", "$", "9" * 30),
    *("bit(", "bit(3)", "NOT", "AND", "OR", "IS", "NULL", "IN", "LIKE", "ILIKE"),
    *("BETWEEN", "ESCAPE", "DATE", "TIMESTAMP", "'2020-02-30'", "'2020-02-29'", "''"),
    *("i", "j", "u", "f", "s", "k", "v", "d", "p", "q", "day", "t", "I", '"s"', "x.y"),
    *("+", "-", "*", "/", "=", "<>", "<", ">=", ",", ".", "0", "1", "-1", "2.5", "'a'"),
]


def mutated(rng: random.Random, valid: list[str]) -> str:
    """Return a condition with a few pieces lost, doubled, swapped or replaced."""
    pieces = PIECE.findall(rng.choice(valid))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        place = rng.randrange(len(pieces) + 1)
        other = PIECE.findall(rng.choice(valid))
        match rng.randrange(6):
            case 0:
                pieces[place : place + 1] = []
            case 1:
                pieces[place:place] = [" ", rng.choice(STRANGE), " "]
            case 2:
                pieces[place : place + 1] = [rng.choice(STRANGE)]
            case 3:
                pieces[place : place + 1] = [rng.choice(other)]
            case 4:
                begin = rng.randrange(len(other))
                pieces[place:place] = [" ", *other[begin : begin + rng.randrange(9)]]
            case _:
                rng.shuffle(pieces[place : place + 4])
                pieces[place:place] = pieces[place : place + rng.randrange(4)]
    return "".join(pieces)


def noise(rng: random.Random) -> str:
    """Return pieces or characters in no order."""
    if rng.random() < 0.5:
        return " ".join(rng.choices(STRANGE, k=rng.randrange(1, 12)))
    highest = rng.choice((128, 0x3000))
    return "".join(chr(rng.randrange(highest)) for _ in range(20))


def outcome(condition: str) -> str:
    """Return what happened; what must not happen ends with an exclamation mark."""
    try:
        rows = matching_rows(condition, TABLE, CODES, N_BITS).tolist()
    except ArgumentError as error:
        return "refused" if "\n" not in str(error) else "several lines!"
    except Exception as error:
        return f"{type(error).__name__}!"
    try:
        expected = duckdb_rows(re.sub(r"\bbit\((\d+)\)", r"bit_\1", condition))
    except (duckdb.Error, UnicodeError):
        return "refused by DuckDB alone"
    return "the same rows" if rows == expected else "other rows than DuckDB!"


def main() -> int:
    """Run until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng, counts = random.Random(options.seed), Counter[str]()
    drawn = [draw(rng) for _ in range(4000)]
    # Not the column "g": to DuckDB its NaN are numbers.
    valid = [c.ours for c in drawn if c.duckdb and not re.search(r"\bg\b", c.ours)]
    end = time.monotonic() + 60 * options.minutes
    while time.monotonic() < end:
        share = rng.random()
        if share < 0.15:
            condition = rng.choice(valid)
        else:
            condition = noise(rng) if share < 0.3 else mutated(rng, valid)
        result = outcome(condition)
        counts[result] += 1
        if result.endswith("!") and counts[result] <= 20:
            print(result, ascii(condition))
    print(sum(counts.values()), "conditions:", dict(counts.most_common()))
    return int(any(result.endswith("!") for result in counts))


if __name__ == "__main__":
    sys.exit(main())
