"""What ``import fewbits`` costs beside ``import numpy``: medians of fresh processes."""

import json
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


def main(
    repeats: Annotated[int, typer.Option()] = 15,
    json_path: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    """Interleave the statements so that noise hits all of them alike."""
    times: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for _ in range(repeats):
        for name, statement in STATEMENTS.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True)
            times[name].append(1000 * (time.perf_counter() - start))
    medians = {name: statistics.median(each) for name, each in times.items()}
    for name, median in medians.items():
        extra = median - medians["numpy"]
        print(f"{name:42s} {median:7.1f} ms   {extra:+7.1f} ms over numpy")
    print(f"target for fewbits: at most {TARGET_MS} ms over numpy")
    if json_path:
        json_path.write_text(json.dumps(medians, indent=1) + "\n")


if __name__ == "__main__":
    typer.run(main)
