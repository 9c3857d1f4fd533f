"""The machine that times were measured on."""

import platform
from functools import cache
from pathlib import Path

from experiments._cells import Cell
from fewbits import _kernels


@cache
def machine() -> Cell:
    """Return what times depend on: the processor and its instructions in use."""
    return {"cpu": processor(), "isa": _kernels.active_isa()}


def processor() -> str:
    """Return the processor's name."""
    info = Path("/proc/cpuinfo")
    for line in info.read_text("utf-8").splitlines() if info.exists() else ():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.processor() or platform.machine()
