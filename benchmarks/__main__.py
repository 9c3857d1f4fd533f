"""Run every benchmark in turn: ``python -m benchmarks [--quick] [NAME ...]``.

With ``--quick`` each runs with its smallest setting, to see that it works: nothing is
written.
"""

import argparse
import subprocess
import sys

from benchmarks import _page
from benchmarks._page import RESULTS

#: Their options, and those of the smallest setting.
BENCHMARKS = {
    "import_time": ("", "--repeats 1"),
    "search": ("", "--quick --repeats 1"),
    "multi_index": ("--large", "--quick --repeats 1"),
    "binary_hnsw": ("", "--quick"),
    "store": ("", "--quick --n 1000000"),
    "rerank": ("", "--quick --repeats 1"),
    "encode": ("", "--repeats 1 --only 512"),
    "encode_projections": ("", "--repeats 1 --only 512"),
    "novel": ("", "--repeats 1"),
    "decode": ("", "--quick --repeats 1"),
    "training": ("", "--repeats 1"),
    "fit": ("", "--repeats 1 --only time"),
    "onnx": ("", "--repeats 1"),
    "compare_faiss": ("", "--quick --repeats 1"),
    "beyond_memory": ("", "--quick --queries 3"),
    "serve": ("", "--quick"),
    "explorer": ("", "--items 2000 --paints 1 --flips 3"),
    "explorer_map": ("", "--items 2000 --opened 1"),
}


def main() -> None:
    """Write each benchmark's figures, then the page that is made from them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", help="some of them; all without any")
    parser.add_argument("--quick", action="store_true", help="their smallest setting")
    options = parser.parse_args()
    failed = []
    for name in options.names or BENCHMARKS:
        print(f"== {name}", flush=True)
        command = [sys.executable, "-m", f"benchmarks.{name}"]
        command += BENCHMARKS[name][options.quick].split()
        if not options.quick:
            command += ["--json", str(RESULTS / f"{name}.json")]
        if subprocess.run(command).returncode:
            failed.append(name)
    if failed:
        raise SystemExit(f"benchmarks: failed: {', '.join(failed)}")
    if not options.quick:
        _page.write()


if __name__ == "__main__":
    main()
