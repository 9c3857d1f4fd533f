"""Nearest decoding: the class whose code differs in the fewest bits."""

from dataclasses import dataclass, field

import numpy as np

from fewbits import _kernels
from fewbits._checks import check_choice
from fewbits._spans import spans
from fewbits._typing import CodeArray
from fewbits.classify._codebook import Codebook
from fewbits.classify._decoded import Answers
from fewbits.classify.decoders._base import CodeDecoder
from fewbits.codes import hamming_distances, hamming_topk

METHODS = ("auto", "look-ups", "exhaustive")
_FEW = 4096  # classes whose distances are all kept
_ENTRIES = 1 << 20  # distances at a time
_QUERIES = 1024  # at a time
_MANY = 1 << 13  # classes from which looking up pays, for as many items at least
_ITEMS = 256
_LOOKUP = 512  # comparisons with all classes, for each of which one may look up


@dataclass(frozen=True, repr=False)
class Nearest(CodeDecoder):
    """Return the class with the smallest Hamming distance.

    Parameters
    ----------
    ties : {"first", "none"}, default="first"
        What to answer where several classes are equally near: that of the lowest row,
        or no class. Either way ``ties`` of the answer tells how many there are.
    method : {"auto", "look-ups", "exhaustive"}, default="auto"
        Compare with every class; or look up parts of the code in tables (multi-index
        hashing), which takes less time than the number of classes where items lie near
        theirs, and compare with every class where that does not settle it. The answers
        are the same; "auto" looks up for many items among very many classes.

    References
    ----------
    Kusupati et al., "LLC: Accurate, Multi-purpose Learnt Low-dimensional Binary Codes",
    NeurIPS 2021, section 4.1.1: MHD.

    Examples
    --------
    >>> from fewbits.codes import pack
    >>> book = Codebook(pack([[0, 0, 0], [1, 1, 1], [1, 0, 0]]), n_bits=3)
    >>> found = Nearest().decode(book, pack([[0, 1, 1], [0, 1, 0]]))
    >>> found.rows, found.distances, found.ties
    (array([1, 0]), array([1, 1], dtype=int32), array([1, 1]))
    """

    method: str = field(default="auto", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.method, "method", METHODS)

    def _answers(self, codebook: Codebook, codes: CodeArray) -> Answers:
        return compare(codebook, codes, self.method)


def compare(codebook: Codebook, codes: CodeArray, method: str) -> Answers:
    """Find the nearest class of each checked code by one of `METHODS`."""
    many = len(codebook) >= _MANY and len(codes) >= _ITEMS
    if method == "look-ups" or (method == "auto" and many):
        work = len(codebook) // (_LOOKUP if method == "auto" else 1)
        return _look_up(codebook, codes, work)
    return compare_all(codebook, codes)


def compare_all(codebook: Codebook, codes: CodeArray) -> Answers:
    """Find the nearest class of each code by comparing it with every class."""
    found = Answers.none(len(codes))
    few = len(codebook) <= _FEW
    for block in spans(len(codes), _ENTRIES // len(codebook) if few else _QUERIES):
        some = codes[block]
        answers = _among_few(codebook, some) if few else _among_many(codebook, some)
        answers.comparisons[:] = len(codebook)
        found.put(np.arange(len(codes))[block], answers)
    return found


def _among_few(codebook: Codebook, codes: CodeArray) -> Answers:
    answers = Answers.none(len(codes))
    distances = hamming_distances(codes, codebook.codes)
    answers.rows = distances.argmin(axis=1)
    answers.distances = distances.min(axis=1)
    answers.ties = (distances == answers.distances[:, None]).sum(axis=1)
    return answers


def _among_many(codebook: Codebook, codes: CodeArray) -> Answers:
    answers = Answers.none(len(codes))
    distances, rows = hamming_topk(codes, codebook.codes, 1)
    answers.distances, answers.rows = distances[:, 0], rows[:, 0]
    for distance in np.unique(distances):
        queries = np.flatnonzero(answers.distances == distance)
        counts = np.empty(len(queries), np.int64)
        _kernels.hamming_within_count(
            codes[queries],
            codebook.codes,
            int(distance),
            None,
            counts,
            _kernels.num_threads(),
        )
        answers.ties[queries] = counts
    return answers


def _look_up(codebook: Codebook, codes: CodeArray, work: int) -> Answers:
    found = codebook.multi_index.nearest(codes, work)
    rest = np.flatnonzero(found.rows < 0)
    found.put(rest, compare_all(codebook, codes[rest]))
    return found
