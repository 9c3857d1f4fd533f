"""Sparse matrices of SciPy are what the dense ones are."""

import numpy as np
import pytest
import scipy.sparse

from fewbits import Collection
from fewbits.errors import ArgumentError, FeatureError
from fewbits.learners import BRE, ITQ

S = scipy.sparse.random(40, 12, 0.3, "csr", np.float32, random_state=0)
X = S.toarray()


@pytest.mark.parametrize("form", ["csr_matrix", "csc_array", "coo_matrix"])
@pytest.mark.parametrize("options", [{}, {"normalize": True, "keep_vectors": "int8"}])
def test_sparse_vectors_are_those_of_the_dense_matrix(form, options):
    matrix = getattr(scipy.sparse, form)(S)
    learner = ITQ(8, n_iter=5, random_state=0)
    dense = Collection.create(None, X, learner=learner, **options)
    sparse = Collection.create(None, matrix, learner=learner, **options)
    assert sparse.encoder.fingerprint == dense.encoder.fingerprint
    for col in (dense, sparse):
        assert col.add(matrix, ids=range(100, 140)) == 40
        assert col.upsert(X[:3], ids=[0, 1, 2]) == 3
    np.testing.assert_array_equal(sparse.codes, dense.codes)
    np.testing.assert_array_equal(sparse.encode(matrix), sparse.encode(X))
    np.testing.assert_array_equal(sparse.features(matrix), sparse.features(X))
    if options:
        np.testing.assert_array_equal(sparse.vectors, dense.vectors)
    for rerank in (None, True):
        answers = [sparse.search(q, k=4, rerank=rerank) for q in (matrix, X)]
        assert answers[0].ids.tolist() == answers[1].ids.tolist()


def test_learners_of_dense_matrices_refuse_sparse_ones():
    with pytest.raises(FeatureError, match="toarray"):
        Collection.create(None, S, learner=BRE(4, random_state=0))


def test_a_sparse_matrix_of_another_width_or_not_finite_is_refused():
    col = Collection.create(None, S, bits=8)
    with pytest.raises(FeatureError, match="expected 12 features"):
        col.search(S[:, :5])
    bad = S.copy()
    bad.data[3] = np.nan
    with pytest.raises(ArgumentError, match="finite"):
        Collection.create(None, bad, bits=8)
