"""Trees of classes from their codes, and their agreement with known trees."""

from fewbits.analysis.taxonomy._agreement import (
    LevelPurity,
    Measured,
    TaxonomyAgreement,
    TaxonomyMetrics,
    TreeAgreement,
    paths_of,
    taxonomy_agreement,
    tree_agreement,
)
from fewbits.analysis.taxonomy._tree import (
    BitClasses,
    BitGroup,
    Taxonomy,
    class_bits,
    class_vectors,
    classes_per_bit,
    equivalent_bits,
    taxonomy,
    vector_taxonomy,
)

__all__ = [
    "BitClasses",
    "BitGroup",
    "LevelPurity",
    "Measured",
    "Taxonomy",
    "TaxonomyAgreement",
    "TaxonomyMetrics",
    "TreeAgreement",
    "class_bits",
    "class_vectors",
    "classes_per_bit",
    "equivalent_bits",
    "paths_of",
    "taxonomy",
    "taxonomy_agreement",
    "tree_agreement",
    "vector_taxonomy",
]
