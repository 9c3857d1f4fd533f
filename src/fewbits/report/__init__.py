"""Figures and HTML pages for the results of `fewbits.analysis`."""

from fewbits.report._drawing import Drawing
from fewbits.report._page import write_page
from fewbits.report._taxonomy_page import write_taxonomy_page
from fewbits.report._trees import (
    code_heat_map,
    codebook_picture,
    dendrogram,
    to_newick,
    to_outline,
    vector_heat_map,
)

__all__ = [
    "Drawing",
    "code_heat_map",
    "codebook_picture",
    "dendrogram",
    "to_newick",
    "to_outline",
    "vector_heat_map",
    "write_page",
    "write_taxonomy_page",
]
