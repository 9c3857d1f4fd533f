"""The recall of held-out rows, as a search over parameters wants it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from fewbits.errors import ArgumentError
from fewbits.evaluation import neighbour_recall_score
from fewbits.learners import ITQ, LSH

X = np.random.default_rng(0).normal(size=(300, 16))


class Ordered:
    """Codes of one row number each: neighbours by it are those of the vectors."""

    def encode(self, rows):
        return np.packbits(np.arange(256) < rows[:, :1], axis=1)


def test_it_is_the_share_of_true_neighbours_among_the_first_found():
    rows = np.random.default_rng(0).permutation(np.arange(250.0))[:, None]
    assert neighbour_recall_score(Ordered(), rows, k=1, at=3) > 0.99
    learner = LSH(8, random_state=0).fit(X)
    scores = [neighbour_recall_score(learner, X, at=at) for at in (1, 10, 240)]
    assert scores[0] < scores[1] < scores[2] == 1
    assert neighbour_recall_score(learner, X) == scores[1]
    assert neighbour_recall_score(learner, X, random_state=1) != scores[1]


def test_a_search_over_parameters():
    grid = {"n_iter": [0, 20], "n_bits": [8, 64]}
    search = GridSearchCV(
        ITQ(random_state=0), grid, cv=2, scoring=neighbour_recall_score
    )
    assert search.fit(X).best_params_["n_bits"] == 64
    first = next(KFold(2).split(X))
    learner = ITQ(64, n_iter=20, random_state=0).fit(X[first[0]])
    by_hand = neighbour_recall_score(learner, X[first[1]])
    at = search.cv_results_["params"].index({"n_bits": 64, "n_iter": 20})
    assert search.cv_results_["split0_test_score"][at] == by_hand


def test_a_pipeline_and_a_data_frame():
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(16)])
    learner = LSH(32, random_state=0).fit(frame)
    score = neighbour_recall_score(learner, frame)  # no warning on names
    chain = make_pipeline(FunctionTransformer(), LSH(32, random_state=0)).fit(X)
    assert neighbour_recall_score(chain, X) == score
    with pytest.raises(ArgumentError, match="not a seed"):
        neighbour_recall_score(learner, frame, random_state=-1)


@pytest.mark.parametrize(("n", "k"), [(4, 1), (12, 11)])
def test_too_few_rows(n, k):
    learner = LSH(8, random_state=0).fit(X)
    with pytest.raises(ArgumentError, match=f"{n} rows are too few to score by k={k}"):
        neighbour_recall_score(learner, X[:n], k=k)
