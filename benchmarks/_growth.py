"""The lines of the page of benchmarks about collections that grow."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
Line = tuple[str, str]


def choices(rows: Sequence[Row]) -> str:
    """Return how near the choice of a scan or look-ups comes to the better of both."""
    measured = [row for row in rows if "chosen_of_1" in row]
    tens, ones, most = (
        sum(row[f"chosen_of_{size}"] > 1.15 for row in measured)
        for size in (10, 1, 1000)
    )
    return (
        f"The choice takes over 1.15 times the better way for {most}, {tens} and "
        f"{ones} of {len(measured)} kinds of search in batches of 1,000, 10 and 1. "
        "Prices were fitted to the same searches; the "
        "[protocol](../research/records/0015-multi-index-hashing.md) was changed on "
        "the way."
    )


def lines(store: Any, large: Any, rows: Iterable[Row]) -> list[Line]:
    """Return what each change of a collection costs, a large one, and near pairs."""
    pairs = [near_pairs(row) for row in rows if _is_shown(row)]
    return [added(store["ingest"]), *changed(store), opened(large), *pairs]


def added(ingest: Mapping[str, float]) -> Line:
    """Return the throughput of one large commit, and what takes the time."""
    millions = {
        name.removesuffix(", rows/s"): rate / 1e6 for name, rate in ingest.items()
    }
    return (
        "10,000,000 rows added",
        f"{millions['store']:.0f} million/s, collection built {millions['build']:.1f}, "
        f"added {millions['add']:.1f}, shuffled ids "
        f"{millions['shuffled ids']:.1f}, NumPy's file {millions['numpy']:.0f}, "
        f"without syncs {millions['no syncs']:.0f}, "
        f"without checksums {millions['no checksums']:.0f}",
    )


def changed(store: Any) -> list[Line]:
    """Return the costs of commits of one row and of all rows, the late ones' too."""
    one, all_rows = store["upserts"], store["cycles"]
    return [
        (
            f"{one['rows']:,} one-row upserts",
            f"{one['ms each, median']:.1f} ms, 99th percentile "
            f"{one['ms each, 99th percentile']:.1f}, late/early "
            f"{one['last 10 % / first 10 %']:.2f}",
        ),
        (
            "50 replacements of everything",
            f"late/early {all_rows['last ten / second ten']:.2f}, bytes "
            f"{all_rows['bytes, largest / smallest']:.2f}",
        ),
    ]


def opened(large: Any) -> Line:
    """Return what a large collection takes."""
    tables, scan = large["multi-index"], large["flat"]
    return (
        f"{large['codes']:,} codes",
        f"built {large['build_seconds']:.0f} s, tables {large['tables_seconds']:.0f} "
        f"s, opened {tables['open_ms']:.0f} ms, {tables['memory_gigabytes']:.1f} GB, "
        f"{tables['queries_per_second']:,.0f} queries/s, scan "
        f"{scan['queries_per_second']:.0f}",
    )


def near_pairs(row: Row) -> Line:
    """Return what it takes to find all pairs."""
    return (
        f"pairs within 3 bits, {row['n']:,} {row['data']}",
        f"{row['pairs_seconds']:.2f} s, scan {row['scan_seconds']:.0f}",
    )


def _is_shown(row: Row) -> bool:
    return row["search"] == "duplicates=3" and row["bits"] == 64
