"""Trees of classes from their codes, and their agreement with known trees."""

from fewbits.analysis.taxonomy._bit_classes import (
    BitClasses,
    BitGroup,
    classes_per_bit,
    equivalent_bits,
)
from fewbits.analysis.taxonomy._classes import ClassBits, class_bits, class_vectors
from fewbits.analysis.taxonomy._paths import paths_of
from fewbits.analysis.taxonomy._permutation import Measured
from fewbits.analysis.taxonomy._purity import dendrogram_purity
from fewbits.analysis.taxonomy._similarities import (
    Similarities,
    code_similarities,
    vector_similarities,
)
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
    "BitClasses",
    "BitGroup",
    "ClassBits",
    "LevelPurity",
    "Measured",
    "Similarities",
    "Taxonomy",
    "TaxonomyAgreement",
    "TaxonomyMetrics",
    "TreeAgreement",
    "class_bits",
    "class_vectors",
    "classes_per_bit",
    "code_similarities",
    "dendrogram_purity",
    "equivalent_bits",
    "paths_of",
    "taxonomy",
    "taxonomy_agreement",
    "tree_agreement",
    "vector_similarities",
    "vector_taxonomy",
]
