"""What tuning reaches of its other targets, and how its misses are read."""

import re
from collections.abc import Iterator
from inspect import signature

from experiments._cells import Cell
from experiments._pages import TITLES, sets_of
from experiments._summary import decimal, figure, markdown, mean_and_error
from experiments._verdicts import (
    FAILS,
    UNDECIDED,
    Gap,
    minus,
    only,
    over_seeds,
    said,
    values_of,
    word,
)
from experiments.tune import (
    BY_LABELS,
    FEWEST_BYTES,
    FIXED,
    GOALS,
    IN_TIME,
    LEAST_RECALL,
    LENGTHS,
    LONGEST,
    SHARE_OF_TIME,
    SUPERVISED,
    TUNED_AT,
    WITHIN_BYTES,
)
from fewbits.training.tuning import tune

TARGETS = f"""The other targets, beside the default that does best on the unseen queries
of each seed, with a shortlist of {LONGEST:,}: no default knew them, but the best one is
picked by them. *Met* counts seeds. In {SHARE_OF_TIME:g} of ITQ's time a default must be
fast enough as well, and the difference is one of recall; for a recall of
{LEAST_RECALL:g} it is the bytes that the default needs beyond what is tuned, where
defaults have {", ".join(map(str, LENGTHS))} bits."""
#: Rows that take part at most, if `tune` is not asked otherwise.
ROWS: int = signature(tune).parameters["max_rows"].default
WHY_NOT = "Where it does not hold, or is not decided, this is how we read it:"
PROMISES = """What is promised is measured without the rows that tuning keeps aside to
choose and to report by: an eighth of the items, 1,000 at most, or a hundredth of more
than 100,000, for each. That is a quarter of Caltech-101's training images and 3 % of
ICD-10's texts. Fewer items are
easier to find, so that among all of them less is found than promised where many are
kept aside; whether rows kept aside or test images ask matters less
([tried](../decisions/training-tuning.md))."""
#: A default that is ranked again, by how `fewbits tune` describes it.
_DEFAULT = re.compile(r"([\w-]+), \d+ bits(?:, \d+ re-ranked by scores)?")
_MOST = "recall, re-ranked, most"


def targets(cells: list[Cell]) -> Iterator[str]:
    """Yield the table of encode time and bytes, and how misses are read."""
    rows, why = [], []
    for name, of_set in sets_of(cells):
        title = TITLES[name]
        for target, judge, read in (
            ("encode time", time_met, read_time),
            ("bytes", bytes_met, read_bytes),
        ):
            found = judge(of_set)
            if found:
                rows.append([title, target, *found])
                why += [
                    f"- *{target.capitalize()}*, {title}: {t}" for t in read(of_set)
                ]
        why += [f"- *Recall*, {title}: {text}" for text in read_recall(of_set)]
        why += [f"- *Recall*, {title}: {text}" for text in read_open_recall(of_set)]
        why += [f"- *Accuracy*, {title}: {text}" for text in read_accuracy(of_set)]
    if rows:
        yield TARGETS
        yield markdown(["features", "target", "met", "beside the best default"], rows)
    if why:
        yield WHY_NOT
        yield "\n".join(why)


def chosen_for(cells: list[Cell], goal: str) -> list[Cell]:
    """Return the cells of a goal, by bits and seed."""
    found = [cell for cell in cells if cell["cell"]["method"] == goal]
    return sorted(found, key=lambda cell: (cell["cell"]["bits"], cell["cell"]["seed"]))


def missed_time(cell: Cell) -> bool:
    """Whether what was tuned takes more than its share of ITQ's time."""
    found: Cell = cell["figures"]
    return bool(found["encode_us"] > SHARE_OF_TIME * found["itq_us"])


def fast_defaults(cells: list[Cell], seed: int) -> dict[str, float]:
    """Return the recall of the defaults that are fast enough, by their own times."""
    at = {
        cell["cell"]["method"]: cell["figures"]
        for cell in cells
        if cell["cell"]["bits"] == TUNED_AT[-1] and cell["cell"]["seed"] == seed
    }
    most = SHARE_OF_TIME * at["itq"]["encode_us"]
    return {
        method: at[method][_MOST]
        for method in FIXED
        if method in at and at[method]["encode_us"] <= most
    }


def bytes_of_default(cells: list[Cell], method: str, seed: int) -> int | None:
    """Return the fewest bytes with which a default reaches the recall; None: none."""
    reached = [
        cell["cell"]["bits"] // 8
        for cell in cells
        if (cell["cell"]["method"], cell["cell"]["seed"]) == (method, seed)
        and cell["figures"].get(_MOST, 0) >= LEAST_RECALL
    ]
    return min(reached, default=None)


def time_met(cells: list[Cell]) -> list[str]:
    """Return in how many seeds the time is kept, and the recall beside defaults."""
    tuned = chosen_for(cells, IN_TIME)
    if not tuned:
        return []
    gaps = []
    for cell in tuned:
        rivals = fast_defaults(cells, cell["cell"]["seed"])
        if rivals and not missed_time(cell):
            gaps.append(cell["figures"]["quality"] - max(rivals.values()))
    met = sum(not missed_time(cell) for cell in tuned)
    beside = "no default is fast enough"
    if gaps:
        gap = mean_and_error(gaps)
        beside = f"{said(gap, -gap[0])} in recall"
    elif any(fast_defaults(cells, cell["cell"]["seed"]) for cell in tuned):
        beside = "defaults are fast enough, what is tuned is not"
    return [f"{met} of {len(tuned)}", beside]


def read_time(cells: list[Cell]) -> Iterator[str]:
    """Yield why the time is not kept, or that a default was chosen."""
    tuned = chosen_for(cells, IN_TIME)
    missed = [cell["figures"] for cell in tuned if missed_time(cell)]
    fixed = [cell for cell in cells if cell["cell"]["method"] in FIXED]
    if missed and fixed:
        fastest = min(cell["figures"]["encode_us"] for cell in fixed)
        allowed = max(SHARE_OF_TIME * found["itq_us"] for found in missed)
        cannot = ", so that it cannot be met by any of them" * (fastest > allowed)
        yield (
            f"missed in {len(missed)} of {len(tuned)} seeds. At most {allowed:.1f} μs "
            f"were allowed; the fastest default of any length takes {fastest:.1f} "
            f"μs{cannot}."
        )
    defaults = plain_defaults(tuned)
    if defaults and not missed:
        yield (
            f"what is chosen differs from the default of {defaults} by its shortlist "
            "only, so that no more than its recall is to be expected."
        )


def plain_defaults(tuned: list[Cell]) -> str:
    """Return the methods that were chosen with default parameters, if all were."""
    found = [_DEFAULT.fullmatch(cell["figures"]["chosen"]) for cell in tuned]
    names = dict.fromkeys(each[1] for each in found if each)
    return ", ".join(names) if found and all(found) else ""


def bytes_met(cells: list[Cell]) -> list[str]:
    """Return in how many seeds the recall is reached, and the bytes beside defaults."""
    tuned = chosen_for(cells, FEWEST_BYTES)
    if not tuned:
        return []
    met = sum(cell["figures"]["quality"] >= LEAST_RECALL for cell in tuned)
    saved = [
        least - cell["figures"]["bytes"]
        for cell in tuned
        if (least := min(needs(cells, cell).values(), default=None)) is not None
    ]
    beside = "no default reaches it"
    if saved:
        gap: Gap = mean_and_error(saved)
        ends = f"{gap[0]:+.1f}" + (f" ± {gap[1]:.1f}" if gap[2] > 1 else "")
        beside = (
            f"{word(gap, -gap[0])}: {ends} bytes" if any(saved) else "as many bytes"
        )
    return [f"{met} of {len(tuned)}", beside]


def needs(cells: list[Cell], cell: Cell) -> dict[str, int]:
    """Return the bytes of the defaults that reach the recall with a cell's seed."""
    seed = cell["cell"]["seed"]
    found = {name: bytes_of_default(cells, name, seed) for name in FIXED}
    return {name: n for name, n in found.items() if n is not None}


def read_bytes(cells: list[Cell]) -> Iterator[str]:
    """Yield where a default needs fewer bytes or as many."""
    tuned = chosen_for(cells, FEWEST_BYTES)
    for cell in tuned:
        mine, least = cell["figures"], needs(cells, cell)
        fewer = [name for name, n in least.items() if n < mine["bytes"]]
        if fewer:
            few = min(least.values())
            yield (
                f"with seed {cell['cell']['seed']} {mine['bytes']:g} bytes were chosen "
                f"({mine['chosen']}), where {len(fewer)} of the defaults need fewer, "
                f"{few} at least. {mine['untried']} candidates were not tried for lack "
                "of time, and a recall counts as reached only where the estimate "
                "exceeds it by a standard error."
            )
    defaults = plain_defaults(tuned)
    if defaults and all(
        min(needs(cells, cell).values(), default=None) == cell["figures"]["bytes"]
        for cell in tuned
    ):
        yield f"the default of {defaults} needs as few, and is what is chosen."


def read_recall(cells: list[Cell]) -> Iterator[str]:
    """Yield beside which defaults recall does not hold, and what was promised."""
    for n_bits, better, tuned in _recall_beside(cells, FAILS):
        yield (
            f"at {n_bits} bits with a shortlist of {LONGEST:,} worse than the "
            f"default of {', '.join(better)}. Seeds choose "
            f"{'; '.join(each['chosen'] for each in tuned)}, which promised "
            f"{_listed(tuned, 'promised')} among {ROWS:,} items at most, which is what "
            f"tuning looks at unasked, and find {_listed(tuned, 'quality')} among all: "
            "what is best by a little among fewer need not be among more."
        )


def read_open_recall(cells: list[Cell]) -> Iterator[str]:
    """Yield beside which defaults recall is not decided, and what was chosen."""
    for n_bits, open_, tuned in _recall_beside(cells, UNDECIDED):
        chosen = dict.fromkeys(each["chosen"].split(",")[0] for each in tuned)
        yield (
            f"at {n_bits} bits with a shortlist of {LONGEST:,} not decided beside "
            f"{', '.join(open_)}. Seeds choose {', '.join(chosen)}, and find "
            f"{_listed(tuned, 'quality')}: methods that find as much leave little to "
            "choose between."
        )


def _recall_beside(
    cells: list[Cell], verdict: str
) -> Iterator[tuple[int, list[str], list[Cell]]]:
    """Yield lengths, the defaults beside which recall is judged so, and what is tuned.

    Recall is that of the longest shortlist.
    """
    mine = values_of(cells, WITHIN_BYTES, figure("quality"))
    for n_bits in TUNED_AT:
        own, found = only(mine, bits=n_bits), []
        for method in FIXED:
            theirs = values_of(cells, method, figure(_MOST))
            gaps = over_seeds(minus(own, theirs)).values()
            if any(word(gap, -gap[0]) == verdict for gap in gaps):
                found.append(method)
        if found:
            tuned = [
                cell["figures"]
                for cell in chosen_for(cells, WITHIN_BYTES)
                if cell["cell"]["bits"] == n_bits
            ]
            yield n_bits, found, tuned


def _listed(tuned: list[Cell], key: str) -> str:
    return ", ".join(decimal(each[key], 3) for each in tuned)


def read_accuracy(cells: list[Cell]) -> Iterator[str]:
    """Yield beside which defaults accuracy is not decided, and by how much."""
    mine = values_of(cells, BY_LABELS, figure("quality"))
    open_ = []
    for method in (*FIXED, *SUPERVISED):
        theirs = values_of(cells, method, figure("accuracy, re-ranked, most"))
        gaps = over_seeds(minus(mine, theirs)).values()
        if any(word(gap, -gap[0]) != "holds" for gap in gaps):
            open_.append(method)
    if open_:
        seeds = [cell["figures"] for cell in chosen_for(cells, BY_LABELS)]
        found = _listed(seeds, "quality")
        methods = dict.fromkeys(each["chosen"].split(",")[0] for each in seeds)
        yield (
            f"with a shortlist of {LONGEST:,} not decided beside {', '.join(open_)}. "
            f"Seeds choose {', '.join(methods)}, and have {found}."
        )


def promises(cells: list[Cell]) -> str:
    """Return how what was promised compares with what unseen queries found."""
    rows = []
    for name, of_set in sets_of(cells):
        for quality in ("recall", "accuracy"):
            gaps = [
                cell["figures"]["promised"] - cell["figures"]["quality"]
                for goal in GOALS
                if (goal == BY_LABELS) == (quality == "accuracy")
                for cell in chosen_for(of_set, goal)
            ]
            if gaps:
                more = f"{sum(gap > 0 for gap in gaps)} of {len(gaps)}"
                mean = f"{sum(gaps) / len(gaps):+.3f}"
                rows.append([TITLES[name], quality, more, mean])
    header = ["features", "", "runs that promised more", "promised less found, mean"]
    return f"{PROMISES}\n\n{markdown(header, rows)}" if rows else ""
