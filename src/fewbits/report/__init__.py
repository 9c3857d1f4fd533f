"""Figures and HTML pages for the results of `fewbits.analysis`."""

from fewbits.report._codebook import codebook_picture
from fewbits.report._dendrogram import dendrogram
from fewbits.report._drawing import Drawing
from fewbits.report._heat_map import code_heat_map, vector_heat_map
from fewbits.report._page import write_page
from fewbits.report._taxonomy_page import write_taxonomy_page
from fewbits.report._tree_text import to_newick, to_outline

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
