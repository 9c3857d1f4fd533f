"""What a backbone is given, and what is said when it refuses or has no memory."""

import numpy as np
import pytest
import torch
from torch import nn

from fewbits.errors import FeatureError, FewbitsError
from fewbits.evaluation.classification import knn_accuracy
from fewbits.learners.deep import LLC, DeepHash
from fewbits.learners.deep.losses import HashNet
from tests.learners._made import made

y = np.repeat(np.arange(4), 30)
rng = np.random.default_rng(0)
tokens = y[:, None] * 5 + rng.integers(0, 5, size=(120, 9))  # words of each class
X = (np.eye(4, 9)[y] * 40 + rng.integers(0, 20, size=(120, 9))).astype(int)


def learner(backbone, **options):
    options = {"max_epochs": 10, "random_state": 0, "device": "cpu"} | options
    return made(DeepHash, 8, backbone=backbone, **options)


def words(vocabulary=20):
    torch.manual_seed(0)
    return nn.EmbeddingBag(vocabulary, 12)


def linear(width=9):
    torch.manual_seed(0)
    return nn.Linear(width, 12)


@pytest.mark.parametrize(
    ("dtype", "trainable"),
    [("int16", None), ("int64", 0), ("uint8", None), ("uint64", 0)],
)
def test_tokens_stay_integers(dtype, trainable):
    given = tokens.astype(dtype)
    fitted = learner(words(), trainable=trainable, learning_rate=0.05).fit(given, y)
    codes = fitted.encode(given)
    assert knn_accuracy(codes[::2], y[::2], codes[1::2], y[1::2]).per_class_mean > 0.9
    assert np.array_equal(codes, fitted.encode(tokens))


def test_tokens_in_a_memory_map_and_for_codebooks(tmp_path):
    np.save(tmp_path / "tokens.npy", tokens)
    mapped = np.load(tmp_path / "tokens.npy", mmap_mode="r")
    options = {
        "init": "cca",
        "codebook_epochs": 2,
        "max_epochs": 2,
        "random_state": 0,
    }
    one, two = (
        made(LLC, backbone=words(), **options).fit(T, y) for T in (tokens, mapped)
    )
    assert np.array_equal(one.encode(tokens), two.encode(mapped))


def test_integers_are_features_where_a_backbone_takes_those():
    whole, real = (learner(linear()).fit(X.astype(kind), y) for kind in "lf")
    assert whole.encoder_.fingerprint == real.encoder_.fingerprint
    assert np.array_equal(whole.encode(X), real.encode(X + 0.0))


def test_integers_come_as_float32_first():
    seen = []

    class Noted(nn.Module):
        def forward(self, items):
            seen.append(items.dtype)
            return items[:, :4]

    learner(Noted(), max_epochs=1).fit(X, y)
    assert set(seen) == {torch.float32}


def test_both_refusals_are_told():
    with pytest.raises(
        FeatureError, match=r"shape \(9,\) as float32: .*; as int64: .*\[0, 1\)"
    ):
        learner(words(1)).fit(tokens + 1, y)
    with pytest.raises(FeatureError, match=r"refuses items of shape \(9,\) as float32"):
        learner(linear(7)).fit(X, y)


def test_tokens_cannot_be_real_numbers():
    with pytest.raises(FeatureError, match=r"as float32: .*Long"):
        learner(words()).fit(tokens + 0.5, y)
    fitted = learner(words(), max_epochs=1).fit(tokens, y)
    with pytest.raises(FeatureError, match=r"must be integers.*got dtype float64"):
        fitted.encode(tokens + 0.5)


class Picky(nn.Module):
    def forward(self, items):
        assert items.shape[1] == 224, "wrong size"
        return items


def test_assertions_of_a_backbone_are_refusals():
    with pytest.raises(FeatureError, match=r"\(9,\) as float32: wrong size; as int64"):
        learner(Picky()).fit(X, y)


class Cast(nn.Module):
    """Gives features in another precision."""

    def __init__(self, dtype):
        super().__init__()
        self.layer, self.dtype = linear(), dtype

    def forward(self, items):
        return self.layer(items).to(self.dtype)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("options", [{}, {"trainable": 0}, {"mixed_precision": True}])
def test_features_of_any_precision(dtype, options):
    fitted = learner(Cast(dtype), max_epochs=3, **options).fit(X, y)
    assert np.isfinite(fitted.objective_).all()
    assert fitted.extract(X).dtype == np.float32


class Hungry(nn.Module):
    """Finds no memory at some point."""

    def __init__(self, looking=False, moving=False):
        super().__init__()
        self.looking, self.moving = looking, moving

    def forward(self, items):
        if self.looking:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB")
        return items

    def _apply(self, fn, recurse=True):
        if self.moving:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB")
        return super()._apply(fn, recurse)


def test_no_memory_for_a_first_look_is_no_refusal():
    with pytest.raises(FewbitsError, match="out of memory on cpu") as e:
        learner(Hungry(looking=True)).fit(X, y)
    assert not isinstance(e.value, FeatureError)


@pytest.mark.parametrize("trainable", [None, 0])
def test_no_memory_for_the_network(trainable):
    with pytest.raises(FewbitsError, match=r"out of memory on cpu: lower"):
        learner(Hungry(moving=True), trainable=trainable).fit(X, y)
    fitted = learner(Hungry(), max_epochs=1).fit(X, y)
    fitted.network_.backbone.moving = True
    with pytest.raises(FewbitsError, match=r"out of memory on cpu: lower"):
        fitted.extract(X)


class HungryLoss(HashNet):
    def forward(self, scores, batch):
        raise MemoryError


def test_no_memory_for_a_step():
    with pytest.raises(FewbitsError, match=r"lower training.batch_size or n_bits"):
        learner(backbone=None, loss=HungryLoss()).fit(X, y)


def test_a_backbone_that_gives_one_number_in_all():
    class Mean(nn.Module):
        def forward(self, X):
            return X.mean()

    with pytest.raises(FeatureError, match="one row of features for each"):
        learner(Mean()).fit(X, y)
