"""Build the pages of docs/results: ``python -m experiments.pages``."""

from experiments import (
    _attributes_page,
    _benchmark_page,
    _bernoulli_page,
    _claims_page,
    _class_search_page,
    _cross_modal_page,
    _deep_claims_page,
    _discriminative_page,
    _known_page,
    _llc_foreign_page,
    _llc_page,
    _llc_retrieval_page,
    _llc_separability_page,
    _llc_taxonomy_page,
    _novel_page,
    _pixels_page,
    _posterior_page,
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
    _llc_page.write()
    _llc_foreign_page.write()
    _llc_retrieval_page.write()
    _llc_separability_page.write()
    _cross_modal_page.write()
    _llc_taxonomy_page.write()
    _posterior_page.write()
    _pixels_page.write()
    _bernoulli_page.write()
    _deep_claims_page.write()
    _benchmark_page.write()


if __name__ == "__main__":
    main()
