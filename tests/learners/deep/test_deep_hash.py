"""DeepHash as an estimator, and what it deploys."""

import pickle
import warnings
from itertools import product

import numpy as np
import pytest
import scipy.sparse
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator
from torch import nn

from fewbits import encoders
from fewbits.classify.decoders import Nearest
from fewbits.codes import pack
from fewbits.errors import ArgumentError, FeatureError
from fewbits.evaluation.classification import knn_accuracy
from fewbits.learners.deep import (
    LLC,
    CentreControl,
    DeepHash,
    NetworkConfig,
    PosteriorControl,
    TrainingConfig,
)
from fewbits.learners.deep.losses import (
    CSQ,
    DSDH,
    LOSSES,
    LossContext,
    OrthoHash,
    Targets,
)
from tests.learners._made import made

y = np.repeat(np.arange(6), 30)
rng = np.random.default_rng(0)
X = (np.eye(6, 10)[y] * 8 + rng.normal(size=(180, 10))).astype(np.float32)
images = rng.integers(0, 80, size=(180, 3, 8, 8), dtype=np.uint8)
for label in range(6):
    images[y == label, label % 3, label // 3 * 4 : label // 3 * 4 + 4] += 150


def learner(**options):
    return made(
        DeepHash, **({"n_bits": 16, "max_epochs": 8, "random_state": 0} | options)
    )


@pytest.mark.parametrize(
    "estimator",
    [
        made(DeepHash, n_bits=12, max_epochs=1, random_state=0),
        made(
            LLC,
            n_bits=12,
            codebook_epochs=1,
            max_epochs=1,
            random_state=0,
        ),
    ],
    ids=["deep hash", "llc"],
)
def test_sklearn_contract(estimator):
    check_estimator(estimator, on_skip=None)


@pytest.mark.parametrize(
    ("hidden", "loss"), [((), "orthohash"), ((20,), "csq"), ((20, 7), "orthohash")]
)
def test_encoder_is_the_network(hidden, loss, tmp_path):
    fitted = learner(hidden=hidden, loss=loss, max_epochs=3).fit(X, y)
    with torch.inference_mode():
        scores = fitted.network_(torch.from_numpy(X)).numpy()
    np.testing.assert_allclose(fitted.encoder_.project(X), scores, rtol=1e-4, atol=1e-4)
    clear = np.abs(scores).min(axis=1) > 1e-3
    assert clear.mean() > 0.8
    assert np.array_equal(fitted.encode(X)[clear], pack(scores >= 0)[clear])
    fitted.encoder_.save(tmp_path / "encoder.safetensors")
    loaded = encoders.load(tmp_path / "encoder.safetensors")
    assert np.array_equal(loaded.encode(X), fitted.encode(X))


BESIDE = PosteriorControl(weight=0.1)


@pytest.mark.parametrize(
    ("loss", "control"),
    [
        *((loss, control) for loss in LOSSES for control in (None, BESIDE)),
        ("dsdh", CentreControl(mode="replace")),
    ],
)
def test_every_loss_learns_classes(loss, control):
    # Which epoch is best by a dozen held-out items is decided by rounding: the last
    # one. Beside a control of weight 1 the codes of a class are scattered, and how
    # wide is a matter of chance; by one of weight .1 at least .94 of 15 seeds is right.
    options = {"max_epochs": 30, "learning_rate": 0.02, "validation": 0, "hidden": ()}
    fitted = learner(loss=loss, control=control, eval_every=0, **options)
    fitted.fit(X[::2], y[::2])
    codes = fitted.encode(X)
    sides = codes[::2], y[::2], codes[1::2], y[1::2]
    assert knn_accuracy(*sides).per_class_mean > 0.8
    learnt = loss in ("greedyhash", "dsdh") and not isinstance(control, CentreControl)
    assert (fitted.classifier_ is not None) == learnt
    book = fitted.codebook_of_classes()
    centred = loss in ("csq", "orthohash") or isinstance(control, CentreControl)
    assert (book is not None) == centred
    if book is not None:
        found = book.labels(Nearest().decode(book, codes).rows)
        # A control of the posterior moves bits away from the centres that CSQ aims at.
        by_chance = 1 / 6
        least = by_chance if isinstance(control, PosteriorControl) else 0.7
        assert (found == y).mean() > least


def test_of_a_loss_that_is_replaced_nothing_is_left():
    """No batch normalisation of OrthoHash, no descent of DSDH."""

    class Watched(DSDH):
        def start_epoch(self, epoch, score_all):
            raise AssertionError

    control = CentreControl(mode="replace")
    expected = learner(loss="csq", control=control, max_epochs=2).fit(X, y).encode(X)
    for loss in ("orthohash", Watched()):
        found = learner(loss=loss, control=control, max_epochs=2).fit(X, y).encode(X)
        assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    ("loss", "control"),
    [*((loss, None) for loss in LOSSES), ("hashnet", PosteriorControl())],
)
def test_items_with_several_labels(loss, control):
    Y = np.zeros((180, 6), np.int64)
    Y[np.arange(180), y] = 1
    Y[:, 5] |= rng.random(180) < 0.3
    fitted = learner(loss=loss, control=control, max_epochs=3).fit(X, Y)
    assert np.isfinite(fitted.objective_).all()
    assert "map" in fitted.history_[0]


def backbone():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Conv2d(8, 12, 1),
    )


def test_backbone_is_trained_with_the_head():
    net = backbone()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    fitted = learner(
        backbone=net, max_epochs=30, backbone_rate=1.0, learning_rate=0.01
    ).fit(images, y)
    assert all(
        not torch.equal(before[name], value) for name, value in net.named_parameters()
    )
    codes = fitted.encode(images)
    assert knn_accuracy(codes[::2], y[::2], codes[1::2], y[1::2]).per_class_mean > 0.9
    features = fitted.extract(images)
    assert features.shape == (180, 48)
    assert np.array_equal(codes, fitted.encoder_.encode(features))


@pytest.mark.parametrize("rate", [0, 0.5, 1])
def test_rate_of_a_backbone_is_a_share_of_that_of_the_head(rate):
    """The first step of Adam is the rate for every weight, whatever its gradient."""
    torch.manual_seed(0)
    net = nn.Linear(10, 4)
    before = net.weight.detach().clone()
    options = {"backbone": net, "backbone_rate": rate, "learning_rate": 0.01}
    learner(**options, max_epochs=1, batch_size=len(X)).fit(X, y)
    steps = (net.weight.detach() - before).abs()
    torch.testing.assert_close(steps, torch.full((4, 10), 0.01 * rate))


@pytest.mark.parametrize(
    ("trainable", "changed"), [(0, set()), (1, {"4"}), (2, {"4", "1"})]
)
def test_only_the_last_layers_are_trained(trainable, changed):
    net = backbone()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    learner(backbone=net, trainable=trainable, max_epochs=2).fit(images, y)
    after = net.state_dict()
    found = {
        name.split(".")[0]
        for name in before
        if not torch.equal(before[name], after[name])
    }
    assert found == changed  # the statistics of frozen normalisation stay, too


class Noted(nn.Module):
    """Remembers whether it was in training."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, features):
        self.seen.append(self.training)
        return features


class Rooted(nn.Module):
    """Has a parameter of its own around its layers, as transformers have."""

    def __init__(self, *layers):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(10))
        self.layers = nn.Sequential(*layers)

    def forward(self, features):
        return self.layers(features + self.shift)


@pytest.mark.parametrize(("trainable", "still"), [(0, 3), (1, 2), (2, 1), (3, 0)])
def test_what_is_not_trained_is_as_in_inference(trainable, still):
    noted = [Noted() for _ in range(3)]
    norms = [nn.BatchNorm1d(10, affine=False) for _ in range(3)]
    net = Rooted(
        *(norms[0], noted[0], nn.Linear(10, 10)),
        *(norms[1], noted[1], nn.Linear(10, 10)),
        *(norms[2], noted[2]),
    )
    learner(backbone=net, trainable=trainable, max_epochs=1).fit(X, y)
    moved = [bool(norm.running_mean.abs().sum() > 0) for norm in norms]
    assert moved == [any(each.seen) for each in noted]
    assert moved == [i >= still for i in range(3)]


@pytest.mark.parametrize("kind", [DeepHash, LLC])
def test_backbone_that_stays_is_run_once_for_a_training(kind):
    """What is trained is what would be on its features."""
    noted = Noted()
    net = nn.Sequential(backbone(), nn.Flatten(), noted)
    options = {"max_epochs": 4, "hidden": (9,), "random_state": 0, "device": "cpu"}
    fitted = made(kind, backbone=net, trainable=0, **options).fit(images, y)
    assert len(noted.seen) <= 4
    features = fitted.extract(images)
    alone = made(kind, standardize=False, **options).fit(features, y)
    assert alone.encoder_.fingerprint == fitted.encoder_.fingerprint


def test_backbone_that_stays_gives_no_finite_features():
    class Broken(nn.Module):
        def forward(self, features):
            return features / 0

    with pytest.raises(FeatureError, match="gives features that are not finite"):
        learner(backbone=Broken(), trainable=0).fit(X, y)


def test_a_backbone_is_frozen_for_one_fit_only():
    net = backbone()
    net[1].requires_grad_(False)  # by its owner
    learner(backbone=net, trainable=0, max_epochs=1).fit(images, y)
    assert all(p.requires_grad for p in net[4].parameters())
    before = {name: value.clone() for name, value in net.named_parameters()}
    learner(backbone=net, max_epochs=1).fit(images, y)
    after = dict(net.named_parameters())
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert {name.split(".")[0] for name in changed} == {"0", "4"}


@pytest.mark.parametrize(
    ("name", "control"),
    [
        ("posterior", PosteriorControl()),
        ("centres", CentreControl()),
    ],
)
def test_controls_have_names(name, control):
    one, two = (
        learner(control=each, max_epochs=2).fit(X, y) for each in (name, control)
    )
    assert one.encoder_.fingerprint == two.encoder_.fingerprint


@pytest.mark.parametrize("several", [False, True])
def test_centres_by_what_classes_look_like(several):
    mixed = X + 5 * X[:, :1].mean()
    mixed[y == 1] = mixed[y == 0]  # two classes that are alike
    labels = np.eye(6, dtype=int)[y]
    labels[0, 2] = several
    found = []

    class Watched(CentreControl):
        def start(self, context):
            super().start(context)
            found.append(self.codes)

    control = Watched("semantic", mode="replace")
    learner(control=control, max_epochs=1).fit(mixed, labels)
    (centres,) = found
    alike = centres[0] @ centres[1:].T
    assert alike.argmax() == 0


def test_clone_starts_anew():
    fitted = learner(loss=CSQ("separated")).fit(X, y)
    again = clone(fitted).fit(X, y)
    assert fitted.encoder_.fingerprint == again.encoder_.fingerprint


def test_memory_map(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    one, two = (learner().fit(features, y).encoder_ for features in (X, mapped))
    assert one.fingerprint == two.fingerprint


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bits": 2}, "6 classes need at least 3 bits to get codes of their own"),
        ({"n_bits": 2, "loss": "hashnet"}, "6 classes need at least 3 bits"),
        ({"n_bits": 0}, "n_bits must be"),
        ({"loss": "contrastive"}, "loss must be a Loss or one of hashnet, dbdh"),
        (
            {"loss": CSQ(np.ones((3, 16)))},
            r"in shape \(n_classes, n_bits\) = \(6, 16\)",
        ),
        ({"loss": OrthoHash("best")}, "centres must be an array or one of hadamard"),
        ({"control": "bound"}, "control must be 'posterior', 'centres'"),
        ({"control": ""}, "control must be 'posterior', 'centres'"),
        ({"loss": CSQ([[1, -1], [1]])}, "got rows of different lengths"),
        ({"weight_decay": 10**400}, "training.weight_decay must be"),
        ({"weight_decay": 10**20, "n_bits": 0}, "n_bits must be"),
        ({"control": 1}, "control must be 'posterior', 'centres'"),
        ({"hidden": (0,)}, "network.hidden must be"),
        ({"device": "tpu9"}, "no device 'tpu9'"),
        ({"device": "mps"}, "no device 'mps': 'auto', 'cpu' or 'cuda'"),
        ({"device": "meta"}, "no device 'meta'"),
        ({"trainable": 0}, "network.trainable=0, but network.backbone is None"),
        (
            {"hidden": (), "dropout": 0.5},
            "network.dropout=0.5 needs layers in network.hidden",
        ),
        ({"batch_size": 1}, "training.batch_size must be"),
        ({"backbone": "resnet"}, "network.backbone must be a torch module"),
        ({"backbone": nn.Linear(10, 3), "trainable": 4}, "has 1 layers"),
        (
            {"validation": 1},
            "training.validation must be",
        ),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ArgumentError, match=message):
        learner(**options).fit(X, y)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "requires y"),
        (np.zeros(180), "at least 2 classes"),
        (y[:100], "inconsistent"),
        (np.eye(7, dtype=int)[y], "class 6 has no item"),
    ],
)
def test_bad_labels(labels, message):
    with pytest.raises(ArgumentError, match=message):
        learner().fit(X, labels)


def test_backbone_of_the_wrong_width():
    with pytest.raises(
        FeatureError, match=r"the backbone refuses items of shape \(10,"
    ):
        learner(backbone=nn.Linear(7, 3)).fit(X, y)
    flat = nn.Flatten(start_dim=0)
    with pytest.raises(FeatureError, match="one row of features for each of 2 items"):
        learner(backbone=flat).fit(X, y)


class Fickle(nn.Module):
    """Gives rows of another width while it is trained; of none, single numbers."""

    def __init__(self, width, later):
        super().__init__()
        self.width, self.later = width, later

    def forward(self, features):
        width = self.later if self.training else self.width
        return features[:, :width] if width else features[:, 0]


def test_backbone_whose_width_changes():
    with pytest.raises(FeatureError, match="gives 7 features, but gave 8 to begin"):
        learner(backbone=Fickle(8, 7)).fit(X, y)
    with pytest.raises(FeatureError, match=r"one row of features .* got shape"):
        learner(backbone=Fickle(0, 0)).fit(X, y)


class Repeating(nn.Module):
    """Gives each row twice after a first look."""

    def __init__(self):
        super().__init__()
        self.looks = 0

    def forward(self, features):
        self.looks += 1
        return features if self.looks == 1 else features.repeat(2, 1)


class Squeezing(nn.Module):
    """Gives a single item no row of its own."""

    def forward(self, features):
        return features.squeeze()


@pytest.mark.parametrize("trainable", [0, None])
def test_backbone_that_gives_another_number_of_rows(trainable):
    wanted = "must give each item a row of features, but gave"
    with pytest.raises(FeatureError, match=wanted):
        learner(backbone=Repeating(), trainable=trainable).fit(X, y)
    fitted = learner(backbone=Squeezing(), trainable=trainable, max_epochs=1).fit(X, y)
    with pytest.raises(FeatureError, match=rf"{wanted} \(10,\) for 1 items"):
        fitted.extract(X[:1])


def test_replaced_loss_learns_no_centres():
    """Every epoch of every phase is told; centres take fifty."""
    told, control = [], PosteriorControl("hadamard", mode="replace")
    options = {"callbacks": [told.append], "max_epochs": 2}
    learner(loss=CSQ("learnt"), control=control, **options).fit(X, y)
    assert len(told) == 2


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_more_labels_than_codes(loss):
    Y = np.eye(5, dtype=int)[np.arange(len(X)) % 5]
    Y[:20, 0] = 1
    with pytest.raises(ArgumentError, match="5 classes need at least 3 bits"):
        learner(loss=loss, n_bits=2).fit(X, Y)


def test_items_of_another_shape():
    fitted = learner(backbone=backbone(), max_epochs=1).fit(images, y)
    with pytest.raises(FeatureError, match=r"items have shape \(3, 4, 8\)"):
        fitted.encode(images[:, :, :4])


def test_training_data_are_not_kept():
    rows = np.tile(X, (20, 1))
    fitted = learner(max_epochs=1, hidden=()).fit(rows, np.tile(y, 20))
    assert len(pickle.dumps(fitted)) < rows.nbytes / 10


@pytest.mark.parametrize("kind", [DeepHash, LLC])
def test_every_parameter_is_checked_before_data(kind):
    values = [object(), "nonsense", [object()]]
    for name, value in product(kind().get_params(), values):
        if (name, value) == ("checkpoint", "nonsense"):
            continue  # a path like any other
        with pytest.raises(ArgumentError, match=name.rpartition("__")[2]):
            kind().set_params(**{name: value}).fit(None, None)


def rate_and_width(model, X, y):
    """Return what tells which settings reached the fit."""
    return model.training.learning_rate + len(model.network_.head.layers)


def test_groups_of_settings_are_searched_over():
    """Whether a group was given or not, and without changing what was."""
    grid = {"training__learning_rate": [0.05, 1e-3], "network__hidden": [(8,), ()]}
    grid["training__max_epochs"] = [2]
    for given in (TrainingConfig(batch_size=32), None):
        model = DeepHash(8, training=given, random_state=0)
        search = GridSearchCV(model, grid, cv=2, scoring=rate_and_width).fit(X, y)
        best = search.best_estimator_
        assert best.training.learning_rate == 0.05
        assert best.network.hidden == (8,)
        assert best.n_epochs_ == 2
        assert best.training.batch_size == (64 if given is None else 32)
        assert model.training is given
    assert model.get_params()["training__batch_size"] == 64


def test_a_group_of_another_kind_is_refused():
    with pytest.raises(
        ArgumentError, match="training must be a TrainingConfig or None"
    ):
        DeepHash(8, training=NetworkConfig()).fit(X, y)
    with pytest.raises(ValueError, match="rate"):
        DeepHash(8).set_params(training__rate=1)


def test_centres_that_are_learnt():
    """Classes are told apart more easily by codes that were learnt for it."""
    items, labels = load_digits(return_X_y=True)
    items, learn, test = items.astype(np.float32), slice(400), slice(400, None)

    def fitted(centres):
        options = {"max_epochs": 10, "hidden": (), "random_state": 0}
        csq = made(DeepHash, 8, loss=CSQ(centres), **options)
        return csq.fit(items[learn], labels[learn])

    def accuracy(learner):
        book = learner.codebook_of_classes()
        found = Nearest().decode(book, learner.encode(items[test])).rows
        return np.mean(found == book.rows(labels[test]))

    learnt, balanced = fitted("learnt"), fitted("balanced")
    assert accuracy(learnt) > accuracy(balanced) + 0.05
    assert learnt.objective_[-1] < balanced.objective_[-1]
    assert len(np.unique(learnt.centres_, axis=0)) == 10
    assert len(learnt.history_) == 10  # of the items


def test_a_loss_and_a_control_have_the_same_learnt_centres():
    alone = learner(loss=CSQ("learnt"), max_epochs=1).fit(X, y)
    control = CentreControl("learnt", mode="replace")
    replaced = learner(loss="dch", control=control, max_epochs=1).fit(X, y)
    np.testing.assert_array_equal(replaced.centres_, alone.centres_)


def test_learnt_centres_of_several_labels_and_with_a_backbone(tmp_path):
    rng = np.random.default_rng(0)
    Y = rng.random((200, 5)) < 0.4
    items = (Y @ rng.normal(size=(5, 12)) * 3).astype(np.float32)
    backbone = torch.nn.Sequential(torch.nn.Linear(12, 8), torch.nn.ReLU())
    options = {"loss": CSQ("learnt"), "backbone": backbone, "random_state": 0}
    path = tmp_path / "c.pt"
    learner = made(DeepHash, 8, max_epochs=2, checkpoint=path, **options).fit(items, Y)
    assert len(np.unique(learner.centres_, axis=0)) == 5
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c.pt", "c.pt.centres"]


@pytest.mark.parametrize("standardize", [False, True])
def test_integers_are_features_like_any(standardize):
    pixels = images.reshape(len(images), -1)
    options = {"n_bits": 8, "max_epochs": 2, "device": "cpu", "random_state": 0}
    fitted = [
        made(DeepHash, **options, standardize=standardize).fit(features, y)
        for features in (pixels, pixels.astype(np.float32))
    ]
    assert fitted[0].encoder_.fingerprint == fitted[1].encoder_.fingerprint
    assert fitted[0].history_[-1]["map"] == fitted[1].history_[-1]["map"]
    with torch.no_grad():
        scores = fitted[0].network_(torch.from_numpy(pixels).float()).numpy()
    assert np.allclose(scores, fitted[0].encoder_.project(pixels), rtol=1e-3, atol=1e-3)


def test_pixels_stay_pixels():
    backbone = nn.Sequential(nn.Flatten(), nn.Linear(192, 8))
    fitted = learner(backbone=backbone, max_epochs=1).fit(images, y)
    with pytest.raises(FeatureError, match="items must be uint8"):
        fitted.encode(images.astype(np.float32))


def test_checkpoint_is_no_folder(tmp_path):
    y = np.repeat([0, 1, 2], 10)
    X = np.random.default_rng(0).normal(size=(30, 6))
    learner = made(DeepHash, 8, checkpoint=tmp_path, random_state=0)
    with pytest.raises(ArgumentError, match="checkpoint must be a file"):
        learner.fit(X, y)


@pytest.mark.parametrize(
    "where",
    [
        lambda book: {"loss": CSQ(book)},
        lambda book: {"loss": "dch", "control": PosteriorControl(book)},
        lambda book: {"loss": "dch", "control": CentreControl(book)},
    ],
    ids=["loss", "posterior", "centres"],
)
def test_centres_that_classes_share_are_told(where):
    y = np.repeat([0, 1, 2], 10)
    X = np.random.default_rng(0).normal(size=(30, 6))
    book = np.ones((3, 8), int)
    book[2, :4] = -1
    learner = made(DeepHash, 8, max_epochs=1, random_state=0, **where(book))
    with pytest.warns(UserWarning, match="1 of 3 classes have the code of another"):
        learner.fit(X, y)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (DeepHash, {"refit": True}, "refit=True needs .* none of 4: 0.25 would do"),
        (
            LLC,
            {"validation_base": "held_out"},
            "training.validation_base='held_out' needs held-out items",
        ),
    ],
)
def test_classes_too_small_to_hold_any_out(kind, options, message):
    X, y = rng.normal(size=(12, 5)).astype(np.float32), np.arange(12) % 3
    few = made(kind, n_bits=8, max_epochs=2, random_state=0, **options)
    with pytest.raises(ArgumentError, match=message):
        few.fit(X, y)
    few.set_params(training__validation=0.5).fit(X, y)
    assert len(few.held_out_) == (0 if options == {"refit": True} else 6)
    with pytest.raises(ArgumentError, match="no class has two"):
        few.fit(X, np.arange(12))
    assert len(made(kind, 8, max_epochs=2).fit(X, y).held_out_) == 0


@pytest.mark.parametrize("kind", [PosteriorControl, CentreControl])
@pytest.mark.parametrize("loss", [CSQ("balanced"), OrthoHash("separated"), CSQ()])
def test_a_control_draws_to_the_centres_of_its_loss(kind, loss):
    found = []

    class Watched(kind):
        def start(self, context):
            super().start(context)
            found.append(self.codes.numpy())

    fitted = learner(loss=loss, control=Watched(), max_epochs=1).fit(X, y)
    learner(loss=loss, control=Watched(mode="replace"), max_epochs=1).fit(X, y)
    assert len(found) == 2
    assert all(np.array_equal(centres, fitted.centres_) for centres in found)


def test_different_centres_of_loss_and_control_are_told():
    given = {"loss": CSQ("balanced"), "max_epochs": 1}
    with pytest.warns(UserWarning, match="draw items to different centres"):
        learner(control=CentreControl("separated"), **given).fit(X, y)
    instead = CentreControl("separated", mode="replace")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner(control=instead, **given).fit(X, y)
        learner(loss="dch", control=CentreControl("separated"), max_epochs=1).fit(X, y)


def test_few_items_of_several_labels_may_spare_none():
    X, Y = (
        rng.normal(size=(4, 5)).astype(np.float32),
        np.tile(np.eye(2, dtype=int), (2, 1)),
    )
    Y[0] = 1
    with pytest.raises(ArgumentError, match=r"refit=True .* spares none of 4"):
        made(DeepHash, n_bits=8, max_epochs=2, refit=True, random_state=0).fit(X, Y)


@pytest.mark.parametrize("kind", [DeepHash, LLC])
def test_errors_name_settings_with_their_group(kind):
    for group, config in kind.configs.items():
        for setting in config().get_params():
            wrong = kind(8).set_params(**{f"{group}__{setting}": object()})
            with pytest.raises(ArgumentError, match=rf"^{group}\.{setting} must be "):
                wrong.fit(X, y)


def test_the_head_has_a_hidden_layer_but_behind_a_backbone():
    for network, widths, rate in (
        ({}, [512], 0.5),
        ({"dropout": 0.2}, [512], 0.2),
        ({"hidden": (9, 8)}, [9, 8], 0.5),
        ({"hidden": ()}, [], 0.0),
        ({"backbone": torch.nn.Linear(10, 4)}, [], 0.0),
    ):
        head = learner(max_epochs=1, **network).fit(X, y).network_.head
        assert [layer.out_features for layer in head.layers[:-1]] == widths
        assert head.dropout.p == rate
    assert isinstance(learner(max_epochs=1).fit(X, y).encoder_, encoders.MLPEncoder)


@pytest.mark.parametrize(
    ("options", "rate"),
    [
        ({"loss": "dch"}, 0.0),
        ({"loss": "csq"}, 0.5),
        ({"loss": "dch", "dropout": 0.3}, 0.3),
        ({"loss": "dch", "control": CentreControl(mode="replace")}, 0.5),
    ],
)
def test_dch_leaves_no_unit_out(options, rate):
    fitted = learner(max_epochs=1, **options).fit(X, y)
    assert fitted.network_.head.dropout.p == rate
    assert clone(fitted).get_params()["network__dropout"] == options.get("dropout")


class TestOfNoGain:
    many = np.repeat(np.arange(20), 30)
    noise = np.random.default_rng(0).normal(size=(600, 6)).astype(np.float32)

    def test_is_told_with_a_way_out(self):
        with pytest.warns(UserWarning, match="has learnt hardly anything") as found:
            learner(max_epochs=10, hidden=()).fit(self.noise, self.many)
        assert r"another training.learning_rate (0.001)" in str(found[0].message)

    @pytest.mark.parametrize(
        "options", [{"validation": 0}, {"eval_every": 0}, {"max_epochs": 9}]
    )
    def test_is_not_told_without_metrics_or_after_few_epochs(self, options):
        learner(**({"max_epochs": 10} | options)).fit(self.noise, self.many)

    def test_is_not_told_by_few_held_out_items(self):
        learner(max_epochs=10, hidden=()).fit(self.noise[::2], self.many[::2])

    def test_is_told_after_a_checkpoint(self, tmp_path):
        options = {"max_epochs": 10, "hidden": (), "checkpoint": tmp_path / "c"}
        for _ in range(2):
            with pytest.warns(UserWarning, match="hardly anything"):
                learner(**options).fit(self.noise, self.many)


@pytest.mark.parametrize(("n_classes", "n_kept"), [(50, 0), (51, 153)])
@pytest.mark.parametrize("loss", ["hashnet", "dbdh"])
def test_of_many_classes_a_batch_is_compared_with_a_memory(loss, n_classes, n_kept):
    each = scipy.sparse.csr_array(np.repeat(np.eye(n_classes), 3, axis=0))
    context = LossContext(8, Targets.from_indicator(each, True), seed=0)
    given = LOSSES[loss]()
    given.start(context)
    assert len(dict(given.named_buffers()).get("U", ())) == n_kept
    for memory in (7, 0):
        given = LOSSES[loss](memory=memory)
        given.start(context)
        assert ("U" in dict(given.named_buffers())) == bool(memory)
