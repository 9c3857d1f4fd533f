"""Neighbour-preserving codes, at nearly the cost of a random fast projection."""

from collections.abc import Sequence
from typing import Any

from numpy.random import RandomState

from fewbits.encoders._block_hadamard import WIDTHS
from fewbits.encoders._rounds import MAX_ROUNDS, padded_size
from fewbits.errors import ArgumentError
from fewbits.learners._core._parameters import check_integer
from fewbits.learners._core._rows import Readable
from fewbits.learners.neighbours._frame import Frame, plain_frame
from fewbits.learners.neighbours._learner import NeighbourLearner
from fewbits.learners.neighbours._rounds import BlockHadamardMap
from fewbits.learners.neighbours._training import ValidationSplit


class FastNeighbourCodes(NeighbourLearner):
    """Learn a fast projection whose codes preserve nearest neighbours.

    Trained as `NeighbourCodes` are, with another map: rounds of a block-diagonal matrix
    and a Walsh-Hadamard transform. It takes ``n_rounds * d * (block_size + log2(d))``
    operations for up to d bits, where a dense map takes ``d * n_bits``.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536. Up to the number of features, padded to a
        power of 2, all bits come from one series of rounds; longer codes take several.
    nested_bits : sequence of int, default=()
        Shorter lengths at which a prefix of the code must preserve neighbours, too.
    n_rounds : int, default=2
        Block-diagonal matrices, each with a transform behind it, 1 to 16.
    block_size : {16, 1}, default=16
        Of their blocks. 1 learns diagonal matrices, which cost no more than the random
        signs of `Hadamard`; three rounds are better then.
    perplexity : float, default=20.0
        Effective number of neighbours to preserve, of the `n_neighbours`.
    n_neighbours : int, default=300
        Nearest rows of an anchor that batches are drawn from.
    n_anchors : int, default=20_000
        Rows whose neighbours are searched for, which takes ``n_anchors * n_rows``
        products of vectors.
    n_rows : int, default=200_000
        Rows that take part, drawn if there are more; they are held in memory, and
        on the device where they are learnt from, in float32: 20 GiB of the default
        number with 25,600 features.
    n_iter : int, default=60
        Iterations, each of 50 batches.
    learning_rate : float, default=0.02
        Of Adam, for blocks that start as rotations, up to 100; it falls to 0.
    validation : float, default=0.05
        Share of the rows, 2,000 at most, that is held out: the iteration whose codes
        find most of their 10 nearest neighbours among the others, 20,000 at most, is
        kept, or the start, where that finds more among all of them. Where that would be
        fewer than 20 rows, all are learnt from, and 2,000 of them choose, each the
        nearest to itself. 0 keeps the last.
    tol : float, default=0.0
        Stop when the mean objective of five iterations is no more than this share below
        that of the five before; 0 does all iterations.
    checkpoint : path or None, default=None
        File to save progress to. If it exists, `fit` resumes from it and ends with the
        same result as without the interruption; then it is deleted.
    verbose : bool, default=False
        Show progress on standard error; see also `on_progress`.
    random_state : int, RandomState instance or None, default=None
        Seeds the start, the rows held out and the batches.

    Attributes
    ----------
    encoder_ : BlockHadamardEncoder
        The learnt encoder; save this, not the learner.
    objective_ : ndarray of shape (n_iter_,)
        Mean cross-entropy, in nats, of the neighbours by vectors with those by codes,
        over the batches of each iteration: an estimate, so it falls with noise.
    recalls_ : ndarray of shape (n_iter_ + 1,)
        Share of the 10 nearest rows of those held out that codes find, at the start
        and after each iteration, a mean over all lengths; empty where none are.
    n_dead_bits_ : int
        Bits that are the same for all rows; more than 0 gives a warning.
    n_iter_ : int
        Number of iterations done.
    n_features_in_ : int

    Notes
    -----
    A method of fewbits, not of a paper. The map is of the family of adaptive Fastfood
    (diagonal matrices between transforms) and of butterfly factorisations (small
    blocks between permutations); what is new is what it is trained for. It starts as a
    random rotation.

    A score of exactly 0 gives a 1. An interrupt keeps the best map reached, with a
    warning. The rows that take part are held in float32.

    References
    ----------
    Yang, Moczulski, Denil, de Freitas, Smola, Song and Wang, "Deep Fried Convnets",
    ICCV 2015.

    Dao, Gu, Eichhorn, Rudra and Re, "Learning Fast Algorithms for Linear Transforms
    Using Butterfly Factorizations", ICML 2019.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> learner = FastNeighbourCodes(n_bits=8, n_iter=2, random_state=0).fit(X)
    >>> learner.encoder_
    BlockHadamardEncoder(16 -> 8 bits)
    """

    def __init__(
        self,
        n_bits: int = 64,
        *,
        nested_bits: Sequence[int] = (),
        n_rounds: int = 2,
        block_size: int = 16,
        perplexity: float = 20.0,
        n_neighbours: int = 300,
        n_anchors: int = 20_000,
        n_rows: int = 200_000,
        n_iter: int = 60,
        learning_rate: float = 0.02,
        validation: float = 0.05,
        tol: float = 0.0,
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.nested_bits = nested_bits
        self.n_rounds = n_rounds
        self.block_size = block_size
        self.perplexity = perplexity
        self.n_neighbours = n_neighbours
        self.n_anchors = n_anchors
        self.n_rows = n_rows
        self.n_iter = n_iter
        self.learning_rate = learning_rate
        self.validation = validation
        self.tol = tol
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_rounds", self.n_rounds, 1, MAX_ROUNDS)
        check_integer("block_size", self.block_size, 1)
        if self.block_size not in WIDTHS:
            raise ArgumentError(f"block_size must be 1 or 16, got {self.block_size}")

    def _frame(self, X: Readable) -> Frame:
        padded_size(X.shape[1])  # refused before anything is searched
        return plain_frame(X)

    def _start(self, split: ValidationSplit, rng: RandomState) -> BlockHadamardMap:
        d = split.rows.shape[1]
        return BlockHadamardMap(d, self.n_bits, self.n_rounds, self.block_size, rng)
