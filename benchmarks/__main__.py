"""Run every benchmark, one after the other: ``python -m benchmarks``."""

import subprocess
import sys
from pathlib import Path

NAMES = (
    "import_time",
    "search",
    "rerank",
    "encode",
    "encode_projections",
    "novel",
    "decode",
    "training",
    "fit",
    "onnx",
    "compare_faiss",
)
RESULTS = Path(__file__).parents[1] / "docs" / "results"


def main() -> None:
    """Write each benchmark's figures next to the pages that are made from them."""
    for name in NAMES:
        print(f"== {name}", flush=True)
        command = [sys.executable, "-m", f"benchmarks.{name}"]
        subprocess.run(
            [*command, "--json", str(RESULTS / f"benchmark_{name}.json")], check=True
        )


if __name__ == "__main__":
    main()
