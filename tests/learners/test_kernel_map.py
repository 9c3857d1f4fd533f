"""Kernel maps in pipelines and before a learner; `test_common.py` applies as well."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from fewbits import encoders
from fewbits.encoders import EigenfunctionEncoder, LinearEncoder, SparseEncoder
from fewbits.errors import ArgumentError, FeatureError
from fewbits.learners import (
    ITQ,
    Classemes,
    KernelMapped,
    PiCoDes,
    SpectralHashing,
    Thresholding,
)
from fewbits.learners.fitting import on_progress

_rng = np.random.default_rng(0)
X = _rng.dirichlet(np.full(12, 0.5), size=80)
Y = np.arange(80) % 4


def test_sklearn_contract():
    learner = KernelMapped(Classemes(random_state=0), kernel="chi2")
    check_estimator(learner, on_skip=None)


class TestLearner:
    @pytest.mark.parametrize(
        ("inner", "kind"),
        [
            (
                PiCoDes(
                    10,
                    n_components=8,
                    n_iter=1,
                    class_weight="balanced",
                    random_state=0,
                ),
                LinearEncoder,
            ),
            (Thresholding("median"), SparseEncoder),
            (SpectralHashing(10), EigenfunctionEncoder),
        ],
        ids=["picodes", "threshold", "sh"],
    )
    def test_is_the_learner_on_mapped_features(self, inner, kind, tmp_path):
        fitted = KernelMapped(inner, kernel="js", order=2).fit(X, Y)
        mapped = encoders.KernelMap("js", 2, 1.0, None, False)(X.astype(np.float32))
        alone = clone(inner).fit(mapped, Y)
        assert type(fitted.encoder_.inner) is kind
        assert fitted.encoder_.inner.fingerprint == alone.encoder_.fingerprint
        np.testing.assert_array_equal(fitted.encode(X), alone.encode(mapped))
        np.testing.assert_array_equal(fitted.objective_, alone.objective_)
        fitted.encoder_.save(tmp_path / "file")
        again = encoders.load(tmp_path / "file")
        np.testing.assert_array_equal(again.encode(X), fitted.encode(X))

    def test_separates_what_no_hyperplane_does(self):
        features = _rng.uniform(size=(300, 2))
        y = np.abs(features[:, 0] - 0.4) < 0.2
        plain = Classemes(C=100, random_state=0).fit(features, y)
        mapped = KernelMapped(Classemes(C=100, random_state=0), order=2)
        right = [
            np.mean((fitted.transform(features) == [0, 1]).all(axis=1) == y)
            for fitted in (plain, mapped.fit(features, y))
        ]
        assert right[1] > 0.95 > 0.8 > right[0]

    def test_parameters_are_nested(self):
        mapped = KernelMapped(ITQ(8, n_iter=2, random_state=0))
        mapped.set_params(learner__n_bits=5, learner__random_state=1, kernel="chi2")
        fitted = mapped.fit(X)
        assert (fitted.encoder_.n_bits, fitted.encoder_.map.kernel) == (5, "chi2")
        assert fitted.learner_.random_state == 1
        assert not hasattr(mapped.learner, "encoder_")

    def test_grid_search_over_bits_and_kernels(self):
        mapped = KernelMapped(ITQ(n_iter=2, random_state=0))
        steps = make_pipeline(mapped, LogisticRegression())
        grid = {
            "kernelmapped__learner__n_bits": [4, 9],
            "kernelmapped__kernel": ["chi2", "intersection"],
        }
        search = GridSearchCV(steps, grid, cv=2, error_score="raise").fit(X, Y)
        assert search.predict(X).shape == (80,)

    @pytest.mark.parametrize("dtype", [np.float16, np.float32])
    def test_a_memory_map_is_mapped_into_a_file(self, dtype, tmp_path, monkeypatch):
        seen = []
        learn = ITQ._learn
        monkeypatch.setattr(
            ITQ, "_learn", lambda self, X, y: seen.append(X) or learn(self, X, y)
        )
        np.save(tmp_path / "X.npy", X.astype(dtype))
        stored = np.load(tmp_path / "X.npy", mmap_mode="r")
        mapped = KernelMapped(ITQ(8, random_state=0))
        prints = [
            clone(mapped).fit(x).encoder_.fingerprint for x in (stored, X.astype(dtype))
        ]
        assert prints[0] == prints[1]
        assert [
            isinstance(x.base, np.memmap) or isinstance(x, np.memmap) for x in seen
        ] == [True, False]

    def test_reports_progress(self):
        seen = []
        with on_progress(lambda *event: seen.append(event)):
            KernelMapped(ITQ(8, n_iter=3, random_state=0)).fit(X)
        assert [event[:2] for event in seen] == [(1, 3), (2, 3), (3, 3)]

    def test_negative_features(self):
        mapped = KernelMapped(ITQ(8, n_iter=2, random_state=0))
        with pytest.raises(FeatureError, match="Negative values in data"):
            mapped.fit(X - 0.01)
        fitted = mapped.fit(X)
        with pytest.raises(FeatureError, match="Negative values in data"):
            fitted.encode(-X)
        mapped.set_params(signed=True).fit(X - 0.01)

    @pytest.mark.parametrize(
        ("mapped", "message"),
        [
            (
                KernelMapped(None),
                r"learner must be a learner such as PiCoDes\(\), got None",
            ),
            (KernelMapped(ITQ), "learner must be a learner"),
            (KernelMapped(KernelMapped(ITQ())), "learner must be a learner"),
            (KernelMapped(ITQ(n_bits=0)), "n_bits must be"),
            (KernelMapped(ITQ(random_state=-1)), "random_state must be"),
            (KernelMapped(ITQ(), kernel="rbf"), "kernel must be"),
            (KernelMapped(ITQ(), interval=0), "interval must be"),
        ],
    )
    def test_bad_parameters_are_refused_before_data_are_read(self, mapped, message):
        with pytest.raises(ArgumentError, match=message) as caught:
            mapped.fit(np.full((3, 3), np.nan))
        assert "\n" not in str(caught.value)

    def test_labels_are_needed_as_by_the_learner(self):
        with pytest.raises(ArgumentError, match="PiCoDes requires y"):
            KernelMapped(PiCoDes(8)).fit(X)
