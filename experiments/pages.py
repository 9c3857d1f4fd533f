"""Build the pages of docs/results: ``python -m experiments.pages``."""

from experiments import (
    _attributes_page,
    _benchmark_page,
    _claims_page,
    _class_search_page,
    _discriminative_page,
    _known_page,
    _novel_page,
    _training_cost_page,
)
from experiments._cells import RESULTS, compact


def main() -> None:
    """Write every page whose measurements are there, and drop superseded ones."""
    for path in RESULTS.glob("*.jsonl"):
        compact(path)
    _novel_page.write()
    _known_page.write()
    _class_search_page.write()
    _discriminative_page.write()
    _claims_page.write()
    _attributes_page.write()
    _training_cost_page.write()
    _benchmark_page.write()


if __name__ == "__main__":
    main()
