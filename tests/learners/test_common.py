"""Checks that every learner must pass."""

import pickle
from functools import cache
from inspect import signature
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from fewbits import encoders
from fewbits.errors import ArgumentError
from fewbits.learners import LSH, PCAH, Hadamard, KernelMapped
from tests.learners._learners import LEARNERS, every_learner

pytestmark = pytest.mark.filterwarnings("ignore:only .* bits are different")


@pytest.mark.filterwarnings(
    "ignore:.*ignores the code", "ignore:.*bits (is|are) constant"
)
@every_learner
def test_sklearn_contract(learner):
    check_estimator(clone(learner), on_skip=None)


X = np.random.default_rng(0).normal(size=(60, 8)) + 3
Y = np.arange(60) % 3


@cache
def fitted_to_rows(learner):
    return clone(learner).fit(X, Y)


# Of few rows, and on some processors.
@pytest.mark.filterwarnings("ignore:.*bits (is|are) constant")
@every_learner
class TestLearnerContract:
    def test_encoder_is_the_whole_model(self, learner, tmp_path):
        fitted = fitted_to_rows(learner)
        fitted.encoder_.save(tmp_path / "encoder.safetensors")
        encoder = encoders.load(tmp_path / "encoder.safetensors")
        np.testing.assert_array_equal(encoder.encode(X), fitted.encode(X))

    def test_same_seed_and_rows_in_another_layout_make_the_same_encoder(self, learner):
        view = np.asfortranarray(np.repeat(X, 2, axis=0), np.float32)[::2]
        viewed = clone(learner).fit(view, Y)
        expected = fitted_to_rows(learner).encoder_.fingerprint
        assert viewed.encoder_.fingerprint == expected

    def test_transform_is_unpacked_encode(self, learner):
        fitted = fitted_to_rows(learner)
        bits = fitted.transform(X)
        assert bits.dtype == np.uint8
        np.testing.assert_array_equal(np.packbits(bits, axis=1), fitted.encode(X))
        assert np.mean(bits.any(axis=0) & ~bits.all(axis=0)) > 0.9

    def test_columns_are_named(self, learner):
        fitted = fitted_to_rows(learner)
        prefix, n_bits = type(learner).__name__.lower(), fitted.encoder_.n_bits
        names = [f"{prefix}{bit}" for bit in range(n_bits)]
        assert list(fitted.get_feature_names_out()) == names

    def test_objective_is_reported(self, learner):
        fitted = fitted_to_rows(learner)
        assert fitted.objective_.dtype == np.float64
        inner = getattr(fitted, "learner_", fitted)
        at_once = fitted.objective_[:1].size  # one value, or none
        assert len(fitted.objective_) == getattr(inner, "n_iter_", at_once)

    def test_every_parameter_is_checked_before_data(self, learner):
        values = [object(), "nonsense", [None]]
        for name, value in product(learner.get_params(), values):
            last = name.rpartition("__")[2]
            if (last, value) == ("checkpoint", "nonsense"):
                continue  # a path like any other
            broken = clone(learner).set_params(**{name: value})
            with pytest.raises(ArgumentError, match=last):
                broken.fit(None)

    def test_few_parameters(self, learner):
        for kind in (type(learner), *learner.configs.values()):
            assert len(signature(kind).parameters) <= 12

    def test_pickle(self, learner):
        fitted = fitted_to_rows(learner)
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.encode(X), fitted.encode(X))

    def test_pipeline_and_grid_search(self, learner):
        steps = make_pipeline(StandardScaler(), clone(learner), LogisticRegression())
        name = type(learner).__name__.lower()
        parameter = next(iter(learner.get_params()))
        grid = {f"{name}__{parameter}": [getattr(learner, parameter)]}
        search = GridSearchCV(steps, grid, cv=2, error_score="raise").fit(X, Y)
        assert search.predict(X).shape == Y.shape

    def test_data_frames(self, learner):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(X, columns=list("abcdefgh"))
        fitted = clone(learner).set_output(transform="pandas").fit(frame, Y)
        bits = fitted.transform(frame)
        assert list(bits.columns) == list(fitted.get_feature_names_out())
        assert (bits.dtypes == np.uint8).all()


@pytest.mark.filterwarnings(
    "ignore:.*ignores the code",
    "ignore:.*bits (is|are) constant",
    "ignore:X varies in one direction only",  # where there is one feature
)
@pytest.mark.parametrize(
    "make",
    [type(learner) for learner in LEARNERS if type(learner) is not KernelMapped],
)
@pytest.mark.parametrize("d", [1, 10])
def test_defaults_fit_few_features(make, d):
    X, y = np.random.default_rng(0).normal(size=(30, d)), np.arange(30) % 3
    learner = make()
    if hasattr(learner, "n_iter"):
        learner.set_params(n_iter=2)  # for the sake of time
    learner.fit(X, y)
    assert learner.encode(X).shape == (30, -(-learner.encoder_.n_bits // 8))


def test_every_public_learner_is_checked():
    from fewbits import learners

    public = {getattr(learners, name) for name in learners.__all__}
    classes = {
        c for c in public if isinstance(c, type) and issubclass(c, learners.Learner)
    }
    assert classes - {learners.Learner} == {type(learner) for learner in LEARNERS}


@pytest.mark.parametrize(
    "learner",
    [learner for learner in LEARNERS if isinstance(learner, LSH | PCAH | Hadamard)],
    ids=lambda learner: type(learner).__name__,
)
def test_what_grows_has_prefixes(learner):
    longer, shorter = (
        clone(learner).set_params(n_bits=n_bits).fit(X, Y).transform(X)
        for n_bits in (8, 5)
    )
    np.testing.assert_array_equal(longer[:, :5], shorter)


@every_learner
def test_errors_name_settings_with_their_group(learner):
    for group, kind in learner.configs.items():
        for setting in kind().get_params():
            wrong = clone(learner).set_params(**{f"{group}__{setting}": object()})
            with pytest.raises(ArgumentError, match=rf"^{group}\.{setting} must be "):
                wrong.fit(np.eye(9), np.arange(9) % 3)
