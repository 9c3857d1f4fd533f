"""What imports and whole commands cost: medians of fresh processes.

Imports in time beside ``import numpy``; commands in seconds of the processor, which
other programs on the machine change less. Python's bytecode is written beforehand, as
an installation does.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

TARGET_MS = 30
STATEMENTS = {
    "numpy": "import numpy",
    "numpy, fewbits": "import numpy, fewbits",
    "numpy, fewbits.encoders, fewbits.index": (
        "import numpy, fewbits.encoders, fewbits.index"
    ),
}
#: Seconds that a command may take, on the collection of ``fewbits demo``.
TARGETS = {"--help": 0.3, "search": 0.7, "search --rerank": 0.7}
_QUESTION = "cannot sleep at night"


def main(
    repeats: Annotated[int, typer.Option()] = 15,
    collection: Annotated[Path, typer.Option()] = Path("fewbits-demo"),
    json_path: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    """Interleave the statements so that noise hits all of them alike."""
    medians = {
        name: statistics.median(each)
        for name, each in _timed(STATEMENTS, repeats).items()
    }
    for name, median in medians.items():
        extra = median - medians["numpy"]
        print(f"{name:42s} {median:7.1f} ms   {extra:+7.1f} ms over numpy")
    print(f"target for fewbits: at most {TARGET_MS} ms over numpy")
    commands = {
        name: {"cpu_seconds": _cpu_seconds(words, repeats), "target": TARGETS[name]}
        for name, words in _commands(collection).items()
    }
    for name, each in commands.items():
        print(f"fewbits {name:34s} {each['cpu_seconds']:7.2f} s of {each['target']} s")
    if json_path:
        report = {"imports": medians, "commands": commands}
        json_path.write_text(json.dumps(report, indent=1) + "\n")


def _timed(statements: dict[str, str], repeats: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in statements}
    for _ in range(repeats):
        for name, statement in statements.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True)
            times[name].append(1000 * (time.perf_counter() - start))
    return times


def _commands(collection: Path) -> dict[str, list[str]]:
    """Return the words of each command; without a collection none that needs one."""
    commands = {"--help": ["--help"]}
    if not (collection / "collection.json").exists():
        print(f"no collection {collection}: 'fewbits demo -o {collection}' makes it")
        return commands
    search = ["search", str(collection), _QUESTION]
    return {**commands, "search": search, "search --rerank": [*search, "--rerank"]}


def _cpu_seconds(words: list[str], repeats: int) -> float:
    """Return what a command takes of the processor, its system calls included."""
    code = "from fewbits.cli import main; main()"
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    found = []
    for _ in range(repeats + 1):
        before = _spent()
        subprocess.run(
            [sys.executable, "-c", code, *words],
            check=True,
            env=kept,
            stdout=subprocess.DEVNULL,
        )
        found.append(_spent() - before)
    return statistics.median(found[1:])  # the first one writes bytecode


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    typer.run(main)
