"""Metrics of class codes for a page or JSON, as plain values."""

from typing import Any, NamedTuple

import numpy as np

from fewbits._repr import one_line
from fewbits.analysis.taxonomy._permutation import Measured
from fewbits.analysis.taxonomy._taxonomy import Taxonomy
from fewbits.analysis.taxonomy._tree_agreement import TaxonomyAgreement, TreeAgreement


class TaxonomyMetrics(NamedTuple):
    """Measurements of `write_taxonomy_page`.

    Attributes
    ----------
    tree : Taxonomy
        Of the codes.
    known : TreeAgreement or None
        With a known tree, where there is one.
    classifiers : TaxonomyAgreement or None
        With that of real-valued classifiers.
    """

    tree: Taxonomy
    known: TreeAgreement | None
    classifiers: TaxonomyAgreement | None

    def __repr__(self) -> str:
        return one_line(self)

    def summary(self) -> dict[str, Any]:
        """Return the metrics as plain values, None for NaN."""
        distances = self.tree.distances
        metrics: dict[str, Any] = {
            "linkage": self.tree.method,
            "smallest_distance": float(distances.min()),
            "mean_distance": float(distances.mean()),
            "cophenetic_correlation": _number(self.tree.cophenetic_correlation),
        }
        if self.known is not None:
            metrics["known_tree"] = _of_known(self.known)
        if self.classifiers is not None:
            metrics["classifiers"] = _of_both(self.classifiers)
        return metrics


def _of_known(found: TreeAgreement) -> dict[str, Any]:
    levels = [
        {"n_groups": level.n_groups, "n_classes": level.n_classes}
        | _measured(level.purity)
        for level in found.purity
    ]
    return {**_of_both(found), "purity": levels}


def _of_both(found: TreeAgreement | TaxonomyAgreement) -> dict[str, Any]:
    return {
        "cophenetic_correlation": _measured(found.cophenetic),
        "distance_correlation": _measured(found.distances),
    }


def _measured(found: Measured) -> dict[str, float | None]:
    values = {"value": found.value, "chance": found.chance, "p": found.p_value}
    return {name: _number(value) for name, value in values.items()}


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
