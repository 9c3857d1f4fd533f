"""LLC: what its phases promise."""

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.metrics.pairwise import cosine_similarity

from fewbits.classify import Codebook
from fewbits.codes import pack, unpack
from fewbits.errors import ArgumentError, ArtefactError
from fewbits.learners.deep import LLC
from fewbits.learners.deep.centres import separated_centres
from fewbits.learners.deep.losses import CodebookLoss, LossContext, Targets
from tests.learners._made import made

L = 20
y = np.repeat([f"class {i:02}" for i in range(L)], 20)
rng = np.random.default_rng(0)
centres = rng.normal(size=(L, 24)) * 2
X = (np.repeat(centres, 20, axis=0) + rng.normal(size=(400, 24))).astype(np.float32)


def learner(**options):
    usual = {"codebook_epochs": 8, "max_epochs": 12, "random_state": 0}
    usual |= {"learning_rate": 0.01, "batch_size": 32, "validation": 0}
    return made(LLC, **(usual | options))


def accuracy(fitted):
    bits = unpack(fitted.encode(X), fitted.codebook_.shape[1])
    distances = (bits[:, None] != (fitted.codebook_ > 0)).sum(axis=2)
    return np.mean(fitted.classes_[distances.argmin(axis=1)] == y)


@pytest.mark.parametrize("codebook", ["learnt", "random", "semantic", "svd", "cca"])
def test_classes_get_codes_of_their_own_and_items_get_theirs(codebook):
    fitted = learner(codebook=codebook, validation=0).fit(X, y)
    assert fitted.codebook_.shape == (L, 10)  # 2 ceil(log2(20))
    assert len(np.unique(fitted.codebook_, axis=0)) == L
    assert set(np.unique(fitted.codebook_)) == {-1, 1}
    assert accuracy(fitted) > (0.6 if codebook == "random" else 0.9)


def test_a_bit_that_all_classes_share_is_left_to_chance_without_a_bias():
    book = separated_centres(L, 10, random_state=0)
    book = np.hstack([np.ones((L, 1)), book])
    sure, chance = (
        np.mean(
            learner(codebook=book, bias=bias, hidden=())
            .fit(X, y)
            .encoder_.project(X)[:, 0]
            > 0
        )
        for bias in (True, False)
    )
    assert sure > chance + 0.1


def test_phase_one_turns_bits_and_lowers_its_loss():
    fitted = learner().fit(X, y)
    losses = [record["loss"] for record in fitted.codebook_history_]
    assert fitted.n_turned_ > 0.05 * fitted.codebook_.size
    assert losses[-1] < 0.7 * losses[0]


@pytest.mark.parametrize(("codebook", "before"), [("learnt", 8), ("svd", 20)])
def test_every_phase_has_its_own_number_of_epochs(codebook, before):
    seen = []
    fitted = learner(codebook=codebook, max_epochs=3, callbacks=[seen.append]).fit(X, y)
    assert (len(seen), len(fitted.history_)) == (before + 3, 3)


def test_classifier_of_a_warm_start_leaves_the_backbone_alone():
    backbone = torch.nn.Linear(24, 24)
    before = backbone.weight.detach().clone()
    seen = []

    def callback(record):
        seen.append(torch.equal(backbone.weight.cpu(), before))

    options = {"init": "svd", "codebook_epochs": 1, "max_epochs": 1}
    learner(backbone=backbone, callbacks=[callback], **options).fit(X, y)
    assert seen == [True] * 20 + [False, False]


@pytest.mark.parametrize("start", ["svd", "cca"])
def test_warm_start(start):
    options = {"codebook_epochs": 2, "max_epochs": 1, "hidden": ()}
    cold = learner(**options).fit(X, y)
    warm = learner(init=start, **options).fit(X, y)
    assert warm.codebook_history_[-1]["loss"] < cold.codebook_history_[-1]["loss"]


def test_a_slow_codebook_stays_near_its_start():
    options = {"init": "semantic", "codebook_epochs": 5, "max_epochs": 1}
    fixed = learner(codebook="semantic", max_epochs=1).fit(X, y).codebook_
    slow = learner(codebook_rate=1e-4, **options).fit(X, y).codebook_
    free = learner(codebook_rate=0.5, **options).fit(X, y).codebook_
    assert np.mean(slow != fixed) < 0.05 < np.mean(free != fixed)


def test_prefixes_of_a_nested_codebook_classify():
    fitted = learner(n_bits=16, nested_bits=(8, 12), codebook_epochs=15).fit(X, y)
    with torch.inference_mode():
        scores = fitted.network_(torch.from_numpy(X)).numpy()
    for length in (8, 12, 16):
        found = (scores[:, :length] @ fitted.codebook_.T[:length]).argmax(axis=1)
        assert np.mean(fitted.classes_[found] == y) > 0.9
        codes = np.unique(fitted.codebook_[:, :length], axis=0)
        assert len(codes) == L


def test_every_class_has_its_own_code_at_every_length():
    items, classes = np.tile(rng.normal(size=(60, 8)), (3, 1)), np.tile(range(60), 3)
    options = {
        "nested_bits": (10, 6, 8),
        "codebook_epochs": 1,
        "max_epochs": 1,
    }
    fitted = learner(n_bits=16, **options).fit(items, classes)
    for length in (6, 8, 10, 16):
        assert len(np.unique(fitted.codebook_[:, :length], axis=0)) == 60
    assert fitted.n_repaired_ > 0


@pytest.mark.parametrize("option", ["codebook", "init"])
def test_units_of_features_do_not_count(option):
    units = 2.0 ** rng.integers(-6, 6, size=24)
    options = {option: "svd", "codebook_epochs": 2, "max_epochs": 1}
    one, two = (learner(**options).fit(X * each, y) for each in (1, units))
    assert np.array_equal(one.codebook_, two.codebook_)


def test_epochs_are_chosen_by_what_the_phases_are_for():
    options = {"codebook": "random", "hidden": (), "max_epochs": 12, "device": "cpu"}
    options |= {"validation": 0.3, "learning_rate": 0.002}
    noisy = X + 2 * np.random.default_rng(1).normal(size=X.shape).astype("f")
    fitted = learner(**options).fit(noisy, y)
    rows = fitted.held_out_
    products = (2.0 * fitted.transform(noisy[rows]) - 1) @ fitted.codebook_.T
    best = products == products.max(axis=1, keepdims=True)
    right = best[np.arange(len(rows)), np.searchsorted(fitted.classes_, y[rows])]
    history = fitted.history_
    accuracies = [record["accuracy"] for record in history]
    assert np.mean(right / best.sum(axis=1)) == pytest.approx(max(accuracies))


def test_nested_loss_is_the_mean_over_lengths():
    targets = Targets(torch.arange(4), 4)
    context = LossContext(8, targets, seed=0)
    scores = torch.randn(4, 8, generator=torch.Generator().manual_seed(0))
    batch = targets[torch.arange(4)]
    whole, nested = CodebookLoss(), CodebookLoss(nested=(3, 5))
    whole.start(context)
    nested.start(context)
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


@pytest.mark.parametrize("nested", [(), (3,)])
def test_similarities_of_classes_are_a_second_loss(nested):
    targets = Targets(torch.arange(8) % 4, 4)
    F = rng.normal(size=(8, 5))
    context = LossContext(6, targets, seed=0, features=lambda: F)
    plain, other = CodebookLoss(nested=nested), CodebookLoss(nested=nested)
    other.similarity_weight = 2.0
    plain.start(context)
    other.start(context)
    means = (F[:4] + F[4:]) / 2
    lengths, found = (*nested, 6), plain.C.detach().numpy() / (2 / 6) ** 0.5
    wanted = cosine_similarity(means - means.mean(axis=0))
    apart = [
        np.sum((cosine_similarity(np.tanh(found[:, :m])) - wanted) ** 2) / 4
        for m in lengths
    ]
    scores, batch = torch.zeros(8, 6), targets[torch.arange(8)]
    both = other(scores, batch).item(), plain(scores, batch).item()
    assert both[0] - both[1] == pytest.approx(2 * np.mean(apart), rel=1e-5)


def test_like_classes_get_near_codes():
    def fit_of(weight):
        options = {"codebook_epochs": 12, "max_epochs": 1, "validation": 0}
        fitted = learner(n_bits=16, similarity_weight=weight, **options).fit(X, y)
        C = fitted.codebook_.astype(float)
        pairs = np.triu_indices(L, 1)
        return np.corrcoef((C @ C.T)[pairs], alike[pairs])[0, 1]

    alike = cosine_similarity(centres - centres.mean(axis=0))
    assert fit_of(0.3) > max(0.5, fit_of(0.0) + 0.2)


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


def test_codebook_with_names_is_matched_by_them():
    own = separated_centres(L + 2, 15)
    names = np.array([*np.unique(y), "class 77", "other"])
    order = rng.permutation(L + 2)
    book = Codebook(pack(own[order] > 0), 15, names[order])
    fitted = learner(codebook=book, max_epochs=1).fit(X, y)
    assert np.array_equal(fitted.codebook_, own[:L])
    assert np.array_equal(clone(fitted).fit(X, y).codebook_, own[:L])
    with pytest.raises(ArgumentError, match=r"beyond the codebook.*: fox is the first"):
        learner(codebook=book).fit(X, np.where(y == "class 03", "fox", y))
    with pytest.raises(ArgumentError, match=r"the codebook has shape \(22, 15\)"):
        learner(codebook=book, n_bits=14).fit(X, y)


def test_checkpoint_knows_a_codebook(tmp_path):
    options = {"checkpoint": tmp_path / "c.pt", "max_epochs": 1}
    own = separated_centres(L, 15)
    books = [Codebook(pack(C > 0), 15, np.unique(y)) for C in (own, own[::-1])]
    learner(codebook=books[0], **options).fit(X, y)
    with pytest.raises(ArtefactError, match="codebook was"):
        learner(codebook=books[1], **options).fit(X, y)


@pytest.mark.parametrize("start", ["svd", "cca"])
def test_start_with_fewer_directions_than_bits(start):
    options = {
        "init": start,
        "n_bits": 24,
        "codebook_epochs": 1,
        "max_epochs": 1,
    }
    fitted = learner(**options).fit(X, y)
    assert fitted.codebook_.shape == (L, 24)


def test_too_few_directions_are_told_before_training():
    seen = []
    with pytest.raises(ArgumentError, match="19 directions, too few for 22 bits"):
        learner(n_bits=22, codebook="svd", callbacks=[seen.append]).fit(X, y)
    assert not seen


def test_codes_that_classes_share_are_told():
    own = separated_centres(L, 15)
    own[3] = own[4]
    with pytest.warns(UserWarning, match="1 of 20 classes have the code of another"):
        learner(codebook=own, max_epochs=1).fit(X, y)


@pytest.mark.parametrize("options", [{}, {"init": "cca"}, {"codebook": "random"}])
def test_items_with_several_labels(options):
    Y = np.eye(5, dtype=int)[np.arange(400) % 5] | (rng.random((400, 5)) < 0.2)
    Y[::50] = 0
    options = options | {
        "n_bits": 8,
        "codebook_epochs": 2,
        "max_epochs": 3,
        "validation": 0.1,
    }
    fitted = learner(**options).fit(X, Y)
    assert len(np.unique(fitted.codebook_, axis=0)) == 5
    assert 0 <= fitted.history_[-1]["accuracy"] <= 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bits": 4}, "20 classes need at least 5 bits"),
        ({"codebook": "best"}, "codebook must be an array or one of learnt"),
        (
            {"codebook": "random", "init": "svd"},
            "codebook_training.init='svd' is of a learnt codebook",
        ),
        (
            {"codebook": "cca", "nested_bits": (8,)},
            r"codebook_training.nested_bits=\(8,\) is of a learnt",
        ),
        (
            {"codebook": np.ones((L, 8)), "init": "cca"},
            "codebook_training.init='cca' is of a learnt",
        ),
        (
            {"codebook": "random", "similarity_weight": 0.1},
            "codebook_training.similarity_weight=0.1 is of a learnt",
        ),
        ({"similarity_weight": -1}, "codebook_training.similarity_weight must be"),
        ({"init": "pca"}, "codebook_training.init must be"),
        (
            {"n_bits": 8, "nested_bits": (9,)},
            "each of codebook_training.nested_bits must be",
        ),
        ({"n_bits": 8, "nested_bits": (4,)}, "20 classes need at least 5 bits"),
        ({"n_bits": 22, "codebook": "svd"}, "19 directions, too few for 22 bits"),
        ({"n_bits": 22, "codebook": "cca"}, "19 directions, too few for 22 bits"),
        (
            {"codebook": np.ones((3, 8))},
            r"= \(20, 8\), got shape \(3, 8\)",
        ),
        (
            {"codebook": np.ones((L, 8)), "n_bits": 9},
            r"the codebook has shape \(20, 8\)",
        ),
        ({"codebook": np.zeros((L, 10))}, "codes must be -1 and 1"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ArgumentError, match=message):
        learner(**options).fit(X, y)


def test_cca_of_a_single_feature():
    labels = np.repeat([0, 1], 20)
    column = (labels + 0.01 * np.arange(40))[:, None].astype(np.float32)
    fitted = made(LLC, 1, codebook="cca", max_epochs=2, random_state=0).fit(
        column, labels
    )
    assert fitted.codebook_.shape == (2, 1)


def test_names_that_no_codebook_has_are_refused_before_training():
    labels = np.repeat([b"a", b"b"], 20)
    model = made(LLC, 4, callbacks=[lambda _: pytest.fail("trained")])
    with pytest.raises(ArgumentError, match="labels must be strings"):
        model.fit(np.eye(40, dtype=np.float32), labels)
