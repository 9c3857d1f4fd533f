"""Run every benchmark, one after the other: ``python -m benchmarks``."""

import subprocess
import sys

from benchmarks import _page
from benchmarks._page import RESULTS

NAMES = (
    "import_time",
    "search",
    "multi_index --large",
    "binary_hnsw",
    "store",
    "rerank",
    "encode",
    "encode_projections",
    "novel",
    "decode",
    "training",
    "fit",
    "onnx",
    "compare_faiss",
    "beyond_memory",
    "serve",
    "explorer",
    "explorer_map",
)


def main() -> None:
    """Write each benchmark's figures, then the page that is made from them."""
    for each in NAMES:
        print(f"== {each}", flush=True)
        name, *options = each.split()
        command = [sys.executable, "-m", f"benchmarks.{name}", *options]
        subprocess.run([*command, "--json", str(RESULTS / f"{name}.json")], check=True)
    _page.write()


if __name__ == "__main__":
    main()
