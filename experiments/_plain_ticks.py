"""Ticks on a logarithmic axis that are read as they are."""

from collections.abc import Sequence
from itertools import count
from typing import Any

#: Between powers of ten: the first of these that gives enough ticks is taken.
STEPS = ((1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8), tuple(n / 10 for n in range(10, 100)))
ENOUGH = 3


def plain_ticks(axes: Any, ticks: Sequence[float] | None = None) -> None:
    """Write ticks of x without powers, some a line below to have room."""
    ticks = list(round_numbers(*axes.get_xlim()) if ticks is None else ticks)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.figure.draw_without_rendering()
    texts, ends = [], dict.fromkeys(range(len(ticks)), float("-inf"))
    for label in axes.get_xticklabels():
        box = label.get_window_extent()
        row = next(i for i in count() if box.x0 > ends[i] + box.height / 2)
        ends[row] = box.x1
        texts.append("\n" * row + label.get_text())
    axes.set_xticks(ticks, texts)


def round_numbers(low: float, high: float) -> list[float]:
    """Return 1, 2, 5, 10 and so on between two numbers, or more if these are few."""
    found: list[float] = []
    for steps in STEPS:
        every = (float(f"{n}e{power}") for power in range(-6, 9) for n in steps)
        found = [number for number in every if low <= number <= high]
        if len(found) >= ENOUGH:
            break
    return found
