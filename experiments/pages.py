"""Build the pages of docs/results: ``python -m experiments.pages``."""

from experiments import (
    _bernoulli_page,
    _pixels_page,
    _posterior_page,
)
from experiments._cells import RESULTS, compact


def main() -> None:
    """Write every page whose measurements are there, and drop superseded ones."""
    for path in RESULTS.glob("*.jsonl"):
        compact(path)
    _posterior_page.write()
    _pixels_page.write()
    _bernoulli_page.write()


if __name__ == "__main__":
    main()
