"""The result of ``fewbits tune`` in words, tables and plots."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from fewbits._extras import install_hint
from fewbits.cli._printing import print_table, say
from fewbits.errors import ArgumentError

#: Kinds of what there was no time for; there are as many that are measured first.
_NAMED = 5


def print_tuning(found: Any, asked: Sequence[str]) -> None:
    """Print the Pareto frontier, the choice, and what there is to say about it."""
    for untried in _untried(found, asked):
        typer.echo(f"note: {untried}")  # not wrapped: commands in it are copied
    _print_frontier(found)
    typer.echo(
        f"on held-out test queries: {found.measure} "
        f"{found.reported.quality:.3f} ± {found.reported.error:.3f} among "
        f"{found.reported.n_items:,} items that come later: the codes were learnt from "
        "others"
    )
    if found.reached:
        _print_unconfirmed(found)
    _print_floats(found)
    if n := found.reported.n_constant_bits:
        say(f"note: {n} of the bits are constant over all items")
    if kept := found.best.configuration.keep_vectors:
        typer.echo(f"note: {kept} vectors are stored for re-ranking{_saved(found)}")
    elif found.best.bytes_per_item >= found.vector_bytes:
        say(
            f"note: a code takes {found.best.bytes_per_item:,} bytes, not less than a "
            f"float16 vector: {found.vector_bytes:,}"
        )


def _saved(found: Any) -> str:
    """Return what codes save beside stored vectors, and what these take."""
    memory, disk = found.best.memory_bytes, found.best.bytes_per_item
    if found.target.counts_memory:
        return f": {memory:,} bytes per item in memory, and {disk:,} on disk"
    return (
        f", so the codes save time, not space: {disk:,} bytes per item, and "
        f"{disk - memory:,} for the vectors alone"
    )


def _untried(found: Any, methods: Sequence[str]) -> Iterator[str]:
    """Yield the methods and lengths not tried, and why; unsuitable only if given."""
    if found.too_long:
        yield f"not tried: {_too_long(found)}"
    if found.beyond_axes:
        asked = ", ".join(map(str, found.beyond_axes))
        yield f"not tried: pcah with {asked} bits, more than features"
    if found.without_torch:
        names = ", ".join(found.without_torch)
        yield f"not tried: {names} need torch: {install_hint('deep')}"
    for method, reason in found.refused.items():
        if method in methods:
            yield f"some of {method} could not be learnt: {reason}"
    if found.not_tried and not methods:
        yield f"not tried unless named by --method: {', '.join(found.not_tried)}"
    if found.n_untried:
        yield (
            f"time was up before {found.n_untried:,} more were measured: "
            f"{_first_untried(found)}; run again to resume, with more --minutes"
            f"{' and --overwrite' if found.reached else ''}"
        )


def _first_untried(found: Any) -> str:
    """Return what there was no time for, the first few kinds with their lengths."""
    kinds: dict[str, list[int]] = {}
    for each in found.untried:
        kind = replace(each, n_bits=None).described()
        kinds.setdefault(kind, []).append(each.n_bits or 0)
    named = [
        f"{kind} ({', '.join(map(str, sorted(bits)))} bits)" if all(bits) else kind
        for kind, bits in kinds.items()
    ]
    more = ["..."] if len(named) > _NAMED else []
    return "; ".join(named[:_NAMED] + more)


def _print_frontier(found: Any) -> None:
    from fewbits.training import tuning

    chosen = found.best.configuration.key
    shown = list(found.frontier)
    if all(each.configuration.key != chosen for each in shown):
        shown.append(found.best)  # it ties with another in the table
    rows = [
        [
            "*" if each.configuration.key == chosen else "",
            each.configuration.described(),
            f"{each.memory_bytes:,}",
            f"{each.bytes_per_item:,}",
            f"{each.quality:.3f}",
            f"{each.encode_us:.1f}",
            f"{each.query_us:.0f}",
        ]
        for each in shown
    ]
    rows += [
        [
            *("", f"{each.name} vectors, full scan"),
            *([f"{each.bytes_per_item:,}"] * 2),
            *(f"{each.quality:.3f}", "-", f"{each.query_us:.0f}"),
        ]
        for each in found.floats
    ]
    header = ["", "configuration", "in memory", "on disk", found.measure]
    header += ["encode µs", "query µs"]
    n_items = f"{found.best.n_items:,} items"
    print_table(f"Pareto frontier among {n_items}", header, rows)
    typer.echo(tuning.frontier_text(*plotted(found)))


def _print_floats(found: Any) -> None:
    """Print where the vectors themselves are as good, or faster."""
    floats = found.better_as_floats
    if floats is not None:
        say(
            f"note: {floats.name} vectors meet the target without any code, with "
            f"{found.measure} {floats.quality:.3f} in {floats.bytes_per_item:,} bytes "
            f"and {floats.query_us:.0f} microseconds per query: keep the vectors"
        )
    elif found.reported.slower_than_scan:
        say(
            "note: a full scan of the float vectors takes "
            f"{found.reported.scan_us:.0f} microseconds per query, less than the "
            "choice: codes save memory here, not time"
        )


def plotted(found: Any) -> tuple[Any, ...]:
    """Return the data of the plot, against the cost that the choice depends on."""
    return found.measured, found.frontier, found.measure, found.target.cost


def _print_unconfirmed(found: Any) -> None:
    if not found.quality_confirmed:
        wanted = f"{found.target.at_least:g}"
        typer.echo(
            f"that is below {wanted}, which the validation queries reach: ask for a "
            "little more"
        )
    if not found.time_confirmed:
        say(
            f"note: timed again, {_missed(found.target, found.reported)}: ask for a "
            "little less, or the machine was busy"
        )


def _missed(target: Any, found: Any) -> str:
    """Return the times that exceed their bounds, in words."""
    encode, query = target.max_encode_us, target.max_query_ms
    words = []
    if encode is not None and found.encode_us > encode:
        words.append(f"encoding took {found.encode_us:.2f} microseconds")
    if query is not None and found.query_us > 1000 * query:
        words.append(f"a query took {found.query_us / 1000:.2f} milliseconds")
    return " and ".join(words)


def _too_long(found: Any) -> str:
    asked = ", ".join(map(str, found.too_long))
    return f"{asked} bits take more than {found.target.max_code_bytes_named}"


def refuse_unreached(found: Any, output: Path) -> None:
    """Raise an error that names the closest configuration, if none will do."""
    if found.reached:
        return
    best, most = found.best, found.target.max_encode_us
    barely = most is not None and best.encode_us <= most
    faster = "" if most is None or barely else _fastest(found)
    margin = ", which must stay 5% below" if barely else ""
    in_memory = ""
    if found.target.counts_memory:
        in_memory = f" ({best.memory_bytes:,} in memory)"
    query = ""
    if found.target.max_query_ms is not None:
        query = f" to encode, {best.query_us / 1000:.2f} milliseconds per query"
    unchanged = f"; {output} is as it was" if output.exists() else ""
    raise ArgumentError(
        f"nothing reaches {found.target.described()}: the closest is "
        f"{best.configuration.described()} with {found.target.named} of "
        f"{best.quality:.3f} ± {best.error:.3f}, {best.bytes_per_item:,} bytes"
        f"{in_memory} and {best.encode_us:.2f} microseconds{query}{margin}{faster}"
        f"{unchanged}"
    )


def _fastest(found: Any) -> str:
    """Return the fastest configuration, unless it is the closest."""
    fastest = min(found.measured, key=lambda each: each.encode_us)
    if fastest.encode_us >= found.best.encode_us:
        return ""
    return (
        f"; the fastest, {fastest.configuration.described()}, takes "
        f"{fastest.encode_us:.2f} microseconds"
    )
