"""Sparse matrices of SciPy: the result of the dense matrix, or one line."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from fewbits import Collection
from fewbits.errors import FeatureError
from fewbits.learners import ITQ, SupervisedITQ
from tests.learners._learners import LEARNERS

DENSE = np.random.default_rng(0).random((80, 12)).astype(np.float32)
DENSE[DENSE < 0.6] = 0
SPARSE = sp.csr_array(DENSE)
Y = np.arange(80) % 4
TAKING = [learner for learner in LEARNERS if learner.takes_sparse]
OTHERS = [learner for learner in LEARNERS if not learner.takes_sparse]


def named(learner):
    return type(learner).__name__


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("learner", TAKING, ids=named)
def test_result_is_that_of_the_dense_matrix(learner):
    dense = clone(learner).fit(DENSE, Y)
    fitted = clone(learner).fit(SPARSE, Y)
    assert fitted.encoder_.fingerprint == dense.encoder_.fingerprint
    codes = dense.encode(DENSE)
    assert np.array_equal(fitted.encode(SPARSE), codes)
    assert np.array_equal(fitted.encoder_.encode(SPARSE), codes)
    scores = dense.encoder_.query_scores(DENSE)
    assert np.array_equal(fitted.encoder_.query_scores(SPARSE), scores)


@pytest.mark.parametrize("learner", OTHERS, ids=named)
def test_others_refuse_in_one_line(learner):
    with pytest.raises(
        FeatureError, match=r"sparse csr_array: give X\.toarray.*CBE, .*ITQ"
    ) as info:
        clone(learner).fit(SPARSE, Y)
    assert "\n" not in str(info.value)


@pytest.mark.parametrize(
    "kind", [sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_array]
)
def test_formats(kind):
    itq = ITQ(8, random_state=0).fit(DENSE)
    assert np.array_equal(itq.encode(kind(DENSE)), itq.encode(DENSE))


def test_sparse_columns_of_pandas_are_columns():
    frame = pd.DataFrame.sparse.from_spmatrix(SPARSE)
    itq = ITQ(8, random_state=0).fit(frame)
    assert np.array_equal(itq.encode(frame), itq.encode(DENSE))
    col = Collection.create(None, frame, encoder=itq.encoder_)
    assert np.array_equal(col.codes, itq.encode(DENSE))


def test_supervision_is_validated_on_sparse_rows():
    learner = SupervisedITQ(8, supervision="validated", n_iter=2, random_state=0)
    dense = clone(learner).fit(DENSE, Y)
    fitted = learner.fit(SPARSE, Y)
    assert fitted.supervision_ == dense.supervision_
    assert fitted.encoder_.fingerprint == dense.encoder_.fingerprint


def test_bad_values_are_named():
    bad = sp.lil_array(DENSE)
    bad[7, 3] = np.inf
    with pytest.raises(FeatureError, match="inf in row 7, column 3"):
        ITQ(8).fit(sp.csr_array(bad))
    itq = ITQ(8, random_state=0).fit(SPARSE)
    with pytest.raises(FeatureError, match="inf in row 7, column 3"):
        itq.encoder_.encode(sp.csr_array(bad))
    with pytest.raises(FeatureError, match="expected 12 features, got 11"):
        itq.encoder_.encode(SPARSE[:, :11])
    with pytest.raises(FeatureError, match="real numbers"):
        itq.encoder_.encode(SPARSE.astype(complex))
    assert itq.encoder_.encode(SPARSE[:0]).shape == (0, 1)


def test_the_whole_matrix_is_never_dense(monkeypatch):
    """Rows are read in blocks of some megabytes, of a matrix of hundreds."""
    X = sp.random_array((40_000, 300), density=0.01, random_state=0, format="csr")
    largest = []
    to_dense = sp.csr_array.toarray

    def watched(self, *args, **kwargs):
        largest.append(self.shape[0])
        return to_dense(self, *args, **kwargs)

    monkeypatch.setattr(sp.csr_array, "toarray", watched)
    itq = ITQ(8, n_iter=1, random_state=0).fit(X)
    itq.encode(X[:100])
    assert max(largest) < len(range(X.shape[0])) / 2
