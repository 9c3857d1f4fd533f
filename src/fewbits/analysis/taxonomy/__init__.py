"""Trees of classes from their codes, and their agreement with known trees."""

from fewbits.analysis.taxonomy._permutation import Measured
from fewbits.analysis.taxonomy._purity import dendrogram_purity
from fewbits.analysis.taxonomy._taxonomy import Taxonomy, taxonomy, vector_taxonomy
from fewbits.analysis.taxonomy._taxonomy_metrics import TaxonomyMetrics
from fewbits.analysis.taxonomy._tree_agreement import (
    LevelPurity,
    TaxonomyAgreement,
    TreeAgreement,
    taxonomy_agreement,
    tree_agreement,
)

__all__ = [
    "LevelPurity",
    "Measured",
    "Taxonomy",
    "TaxonomyAgreement",
    "TaxonomyMetrics",
    "TreeAgreement",
    "dendrogram_purity",
    "taxonomy",
    "taxonomy_agreement",
    "tree_agreement",
    "vector_taxonomy",
]
