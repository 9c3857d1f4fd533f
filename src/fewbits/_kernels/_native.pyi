import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray, DistanceArray, IdArray, ScoreArray

def isas() -> list[str]: ...
def active_isa() -> str: ...
def force_isa(name: str) -> bool: ...
def hamming_distances(
    queries: CodeArray, database: CodeArray, distances: DistanceArray, n_threads: int
) -> None: ...
def hamming_topk(
    queries: CodeArray,
    database: CodeArray,
    allowed: NDArray[np.uint8] | None,
    distances: DistanceArray,
    rows: IdArray,
    n_threads: int,
) -> None: ...
def hamming_within_count(
    queries: CodeArray,
    database: CodeArray,
    radius: int,
    allowed: NDArray[np.uint8] | None,
    counts: IdArray,
    n_threads: int,
) -> None: ...

class HammingHits:
    def __init__(
        self,
        queries: CodeArray,
        database: CodeArray,
        radius: int,
        allowed: NDArray[np.uint8] | None,
        n_threads: int,
    ) -> None: ...
    def counts(self, counts: IdArray) -> None: ...
    def write(self, distances: DistanceArray, rows: IdArray) -> None: ...

def asymmetric_distances(
    scores: ScoreArray,
    database: CodeArray,
    rows: IdArray,
    distances: NDArray[np.float32],
    n_threads: int,
) -> None: ...
def additive_scores(
    scores: ScoreArray,
    sums: ScoreArray,
    gram: NDArray[np.float32],
    n_rounds: int,
    tolerance: float,
    n_threads: int,
) -> None: ...
def pair_sums(
    products: NDArray[np.int8], codes: CodeArray, sums: IdArray, n_threads: int
) -> None: ...
def bit_sums(
    weights: NDArray[np.float32],
    codes: CodeArray,
    sums: NDArray[np.float32],
    n_threads: int,
) -> None: ...
def vector_distances(
    queries: NDArray[np.float64],
    vectors: NDArray[np.float64] | NDArray[np.float32] | NDArray[np.uint16],
    rows: IdArray,
    metric: int,
    distances: NDArray[np.float32],
    n_threads: int,
) -> None: ...
def int8_distances(
    queries: NDArray[np.float64],
    values: NDArray[np.int8],
    blocks: NDArray[np.float32],
    rows: IdArray,
    metric: int,
    distances: NDArray[np.float32],
    n_threads: int,
) -> None: ...
def first_pairs(
    distances: NDArray[np.float32],
    rows: IdArray,
    first_distances: NDArray[np.float32],
    first_rows: IdArray,
    n_threads: int,
) -> None: ...
def linear_scores(
    X: NDArray[np.float32],
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    scores: ScoreArray,
    n_threads: int,
) -> None: ...
def linear_encode(
    X: NDArray[np.float32],
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    zero_bit: int,
    codes: CodeArray,
    n_threads: int,
) -> None: ...
def crc32c(
    data: NDArray[np.uint8], offsets: IdArray, sums: NDArray[np.uint32]
) -> None: ...

class SparseMap:
    def __init__(
        self,
        indptr: IdArray,
        indices: NDArray[np.int32],
        values: NDArray[np.float32],
        bias: NDArray[np.float32],
        n_features: int,
    ) -> None: ...

def sparse_scores(
    X: NDArray[np.float32], map: SparseMap, scores: ScoreArray, n_threads: int
) -> None: ...
def sparse_encode(
    X: NDArray[np.float32],
    map: SparseMap,
    zero_bit: int,
    codes: CodeArray,
    n_threads: int,
) -> None: ...
def block_scores(
    X: NDArray[np.float32],
    features: NDArray[np.int32],
    feature_starts: IdArray,
    bit_starts: IdArray,
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    scores: ScoreArray,
    n_threads: int,
) -> None: ...
def block_encode(
    X: NDArray[np.float32],
    features: NDArray[np.int32],
    feature_starts: IdArray,
    bit_starts: IdArray,
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    zero_bit: int,
    codes: CodeArray,
    n_threads: int,
) -> None: ...
def bilinear_scores(
    X: NDArray[np.float32],
    left: NDArray[np.float32],
    right: NDArray[np.float32],
    bias: NDArray[np.float32],
    scores: ScoreArray,
    n_threads: int,
) -> None: ...
def bilinear_encode(
    X: NDArray[np.float32],
    left: NDArray[np.float32],
    right: NDArray[np.float32],
    bias: NDArray[np.float32],
    zero_bit: int,
    codes: CodeArray,
    n_threads: int,
) -> None: ...
def hadamard_scores(
    X: NDArray[np.float32],
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    scores: ScoreArray,
    n_threads: int,
) -> None: ...
def hadamard_encode(
    X: NDArray[np.float32],
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    zero_bit: int,
    codes: CodeArray,
    n_threads: int,
) -> None: ...
def circulant_scores(
    X: NDArray[np.float32],
    diagonal: NDArray[np.float32],
    roots: NDArray[np.float32],
    spectra: NDArray[np.float32],
    bias: NDArray[np.float32],
    scores: ScoreArray,
    n_threads: int,
) -> None: ...
def circulant_encode(
    X: NDArray[np.float32],
    diagonal: NDArray[np.float32],
    roots: NDArray[np.float32],
    spectra: NDArray[np.float32],
    bias: NDArray[np.float32],
    zero_bit: int,
    codes: CodeArray,
    n_threads: int,
) -> None: ...

class MultiIndexTables:
    def __init__(
        self,
        codes: CodeArray,
        cuts: IdArray,
        starts: NDArray[np.uint32],
        rows: NDArray[np.uint32],
        entries: NDArray[np.uint8] | None,
    ) -> None: ...

class Budget:
    def __init__(self, lookup: int, candidate: int, limit: int) -> None: ...

def multi_index_build(
    codes: CodeArray,
    cuts: IdArray,
    starts: NDArray[np.uint32],
    rows: NDArray[np.uint32],
    entries: NDArray[np.uint8] | None,
    n_threads: int,
) -> None: ...
def multi_index_topk(
    queries: CodeArray,
    tables: MultiIndexTables,
    allowed: NDArray[np.uint8] | None,
    budget: Budget,
    distances: DistanceArray,
    rows: IdArray,
    work: IdArray,
    done: NDArray[np.uint8],
    n_threads: int,
) -> None: ...
def multi_index_nearest(
    queries: CodeArray,
    tables: MultiIndexTables,
    budget: Budget,
    distances: DistanceArray,
    rows: IdArray,
    ties: IdArray,
    work: IdArray,
    done: NDArray[np.uint8],
    n_threads: int,
) -> None: ...

class RangeHits:
    def __init__(
        self,
        queries: CodeArray,
        tables: MultiIndexTables,
        allowed: NDArray[np.uint8] | None,
        radius: int,
        budget: Budget,
        n_threads: int,
    ) -> None: ...
    def counts(
        self, counts: IdArray, work: IdArray, done: NDArray[np.uint8]
    ) -> None: ...
    def write(self, distances: DistanceArray, rows: IdArray) -> None: ...

class PairJoin:
    def __init__(
        self,
        codes: CodeArray,
        allowed: NDArray[np.uint8] | None,
        parts: IdArray,
        radius: int,
        before: int,
        n_threads: int,
    ) -> None: ...
    def advance(self) -> bool: ...
    def __len__(self) -> int: ...
    def write(self, distances: DistanceArray, pairs: IdArray) -> None: ...
