"""Codes -> insight: what their bits mean, and how well they are used."""

from fewbits.analysis._diagnose import diagnose_codes
from fewbits.analysis._ap_bound import ap_lower_bound, misranks
from fewbits.analysis._bits import bit_report
from fewbits.analysis._bound import CodeBound, code_bound
from fewbits.analysis._bound_regression import BoundRegression, bound_regression
from fewbits.analysis._codebook import BitClasses, classes_per_bit, codebook_picture
from fewbits.analysis._dendrogram import dendrogram
from fewbits.analysis._distances import DistanceHistogram
from fewbits.analysis._distinct import distinct_bits
from fewbits.analysis._drawing import Drawing
from fewbits.analysis._extremes import Extremes, Side, extreme_items
from fewbits.analysis._heat_map import code_heat_map, vector_heat_map
from fewbits.analysis._maps import CodeMap, map_codes
from fewbits.analysis._names import (
    Proposal,
    Proposals,
    Word,
    name_bits,
    propose_names,
)
from fewbits.analysis._page import write_page
from fewbits.analysis._permutation import Measured
from fewbits.analysis._profile import ClassProfile, class_profile
from fewbits.analysis._purity import dendrogram_purity
from fewbits.analysis._ranking import BitRanking, rank_bits
from fewbits.analysis._report import BitReport
from fewbits.analysis._taxonomy import Taxonomy, taxonomy, vector_taxonomy
from fewbits.analysis._taxonomy_metrics import TaxonomyMetrics
from fewbits.analysis._taxonomy_page import write_taxonomy_page
from fewbits.analysis._tree_agreement import (
    LevelPurity,
    TaxonomyAgreement,
    TreeAgreement,
    taxonomy_agreement,
    tree_agreement,
)
from fewbits.analysis._tree_text import to_newick, to_outline
from fewbits.analysis._words import FUNCTION_WORDS, tokenize

__all__ = [
    "FUNCTION_WORDS",
    "BitClasses",
    "BitRanking",
    "BitReport",
    "BoundRegression",
    "ClassProfile",
    "CodeBound",
    "CodeMap",
    "DistanceHistogram",
    "Drawing",
    "Extremes",
    "LevelPurity",
    "Measured",
    "Proposal",
    "Proposals",
    "Side",
    "Taxonomy",
    "TaxonomyAgreement",
    "TaxonomyMetrics",
    "TreeAgreement",
    "Word",
    "ap_lower_bound",
    "bit_report",
    "bound_regression",
    "class_profile",
    "classes_per_bit",
    "diagnose_codes",
    "code_bound",
    "code_heat_map",
    "codebook_picture",
    "dendrogram",
    "dendrogram_purity",
    "distinct_bits",
    "extreme_items",
    "map_codes",
    "misranks",
    "name_bits",
    "propose_names",
    "rank_bits",
    "taxonomy",
    "taxonomy_agreement",
    "to_newick",
    "to_outline",
    "tokenize",
    "tree_agreement",
    "vector_heat_map",
    "vector_taxonomy",
    "write_page",
    "write_taxonomy_page",
]
