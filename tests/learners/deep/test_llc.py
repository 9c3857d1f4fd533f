"""LLC: what its phases promise."""

import numpy as np
import pytest
import torch

from fewbits.codes import unpack
from fewbits.errors import ArgumentError
from fewbits.learners.deep import LLC
from fewbits.learners.deep.centres import separated_centres
from fewbits.learners.deep.losses._llc import CodebookLoss

L = 20
y = np.repeat([f"class {i:02}" for i in range(L)], 20)
rng = np.random.default_rng(0)
centres = rng.normal(size=(L, 24)) * 2
X = (np.repeat(centres, 20, axis=0) + rng.normal(size=(400, 24))).astype(np.float32)


def learner(**options):
    usual = {"codebook_epochs": 10, "n_iter": 20, "random_state": 0}
    usual |= {"learning_rate": 0.01, "batch_size": 32}
    return LLC(**(usual | options))


def accuracy(fitted):
    bits = unpack(fitted.encode(X), fitted.codebook_.shape[1])
    distances = (bits[:, None] != (fitted.codebook_ > 0)).sum(axis=2)
    return np.mean(fitted.classes_[distances.argmin(axis=1)] == y)


@pytest.mark.parametrize("codebook", ["learnt", "random", "svd", "cca"])
def test_classes_get_codes_of_their_own_and_items_get_theirs(codebook):
    fitted = learner(codebook=codebook).fit(X, y)
    assert fitted.codebook_.shape == (L, 10)  # twice what numbers 20 classes
    assert len(np.unique(fitted.codebook_, axis=0)) == L
    assert set(np.unique(fitted.codebook_)) == {-1, 1}
    assert accuracy(fitted) > (0.6 if codebook == "random" else 0.9)


def test_phase_one_turns_bits_and_lowers_its_loss():
    fitted = learner().fit(X, y)
    losses = [record["loss"] for record in fitted.codebook_history_]
    assert fitted.n_turned_ > 0.05 * fitted.codebook_.size
    assert losses[-1] < 0.7 * losses[0]


@pytest.mark.parametrize(("codebook", "before"), [("learnt", 10), ("svd", 20)])
def test_every_phase_has_its_own_number_of_epochs(codebook, before):
    seen = []
    fitted = learner(codebook=codebook, n_iter=3, callbacks=[seen.append]).fit(X, y)
    assert (len(seen), len(fitted.history_)) == (before + 3, 3)


def test_classifier_of_a_warm_start_leaves_the_backbone_alone():
    backbone = torch.nn.Linear(24, 24)
    before = backbone.weight.detach().clone()
    seen = []

    def callback(record):
        seen.append(torch.equal(backbone.weight, before))

    options = {"init": "svd", "codebook_epochs": 1, "n_iter": 1}
    learner(backbone=backbone, callbacks=[callback], **options).fit(X, y)
    assert seen == [True] * 20 + [False, False]


@pytest.mark.parametrize("start", ["svd", "cca"])
def test_warm_start(start):
    cold = learner(codebook_epochs=2).fit(X, y)
    warm = learner(codebook_epochs=2, init=start).fit(X, y)
    assert warm.codebook_history_[-1]["loss"] < cold.codebook_history_[-1]["loss"]


def test_prefixes_of_a_nested_codebook_classify():
    fitted = learner(n_bits=16, lengths=(8, 12), codebook_epochs=20).fit(X, y)
    with torch.inference_mode():
        scores = fitted.network_(torch.from_numpy(X)).numpy()
    for length in (8, 12, 16):
        found = (scores[:, :length] @ fitted.codebook_.T[:length]).argmax(axis=1)
        assert np.mean(fitted.classes_[found] == y) > 0.9
        codes = np.unique(fitted.codebook_[:, :length], axis=0)
        assert len(codes) >= L - 2


def test_nested_loss_is_the_mean_over_lengths():
    from fewbits.learners.deep._targets import Targets
    from fewbits.learners.deep.losses import Setting

    targets = Targets(torch.arange(4), None, 4)
    setting = Setting(8, targets, seed=0)
    scores = torch.randn(4, 8, generator=torch.Generator().manual_seed(0))
    batch = targets[torch.arange(4)]
    whole, nested = CodebookLoss(), CodebookLoss(nested=(3, 5))
    whole.start(setting)
    nested.start(setting)
    C = np.where(whole.C.detach().numpy() >= 0, 1, -1)
    losses = []
    for m in (3, 5, 8):
        logits = torch.from_numpy(C[:, :m]).float() @ scores[:, :m].T
        losses.append(
            torch.nn.functional.cross_entropy(
                logits.T, torch.arange(4), label_smoothing=0.1
            )
        )
    torch.testing.assert_close(nested(scores, batch), torch.stack(losses).mean())
    torch.testing.assert_close(whole(scores, batch), losses[-1])


def test_two_modalities_share_one_codebook():
    image = learner().fit(X, y)
    other = X @ rng.normal(size=(24, 24)).astype(np.float32)
    text = learner(codebook=image.codebook_).fit(other, y)
    assert np.array_equal(text.codebook_, image.codebook_)
    same = np.mean(
        unpack(image.encode(X), 10) == unpack(text.encode(other), 10), axis=1
    )
    assert same.mean() > 0.85  # a linear map does not give every item its code


def test_codebook_from_elsewhere():
    own = separated_centres(L, 15)
    fitted = learner(codebook=own).fit(X, y)
    assert np.array_equal(fitted.codebook_, own)
    assert accuracy(fitted) > 0.9


def test_codes_that_classes_share_are_told():
    own = separated_centres(L, 15)
    own[3] = own[4]
    with pytest.warns(UserWarning, match="1 of 20 classes have the code of another"):
        learner(codebook=own, n_iter=1).fit(X, y)


def test_items_with_several_labels():
    Y = np.eye(5, dtype=int)[np.arange(400) % 5] | (rng.random((400, 5)) < 0.2)
    fitted = learner(n_bits=8).fit(X, Y)
    assert len(np.unique(fitted.codebook_, axis=0)) == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bits": 4}, "20 classes need at least 5 bits"),
        ({"codebook": "best"}, "codebook must be an array or one of learnt"),
        ({"init": "pca"}, "init must be one of 'svd', 'cca'"),
        (
            {"n_bits": 8, "lengths": (9,)},
            "each of lengths must be an integer, 1 to 8, got 9",
        ),
        ({"n_bits": 8, "lengths": (4,)}, "20 classes need at least 5 bits"),
        ({"n_bits": 22, "codebook": "svd"}, "19 directions, too few for 22 bits"),
        ({"n_bits": 22, "codebook": "cca"}, "19 directions, too few for 22 bits"),
        (
            {"codebook": np.ones((3, 8))},
            "codebook has 3 codes, but the labels are of 20 classes",
        ),
        (
            {"codebook": np.ones((L, 8)), "n_bits": 9},
            r"the codebook has shape \(20, 8\)",
        ),
        ({"codebook": np.zeros((L, 10))}, "centres must be -1 and 1"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ArgumentError, match=message):
        learner(**options).fit(X, y)
