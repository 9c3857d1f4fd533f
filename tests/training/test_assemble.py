"""A learner that was fitted by hand makes the collection that `fit` does."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

import fewbits
from fewbits import Collection
from fewbits.errors import ArgumentError, FeatureError
from fewbits.inputs import Input
from fewbits.learners import DBC, ITQ, KernelMapped
from tests.learners._made import made

X, y = load_digits(return_X_y=True)
X, names = X[:400].astype(np.float32), y[:400].astype(str)


def deep_learner(method, **options):
    """Return a deep learner of 16 bits, trained for a moment."""
    deep = pytest.importorskip("fewbits.learners.deep")
    training = deep.TrainingConfig(max_epochs=3)
    if method == "llc":
        return deep.LLC(16, training=training, random_state=0)
    network = deep.NetworkConfig(hidden=())
    options = {"loss": method, **options}
    return deep.DeepHash(
        16, network=network, training=training, random_state=0, **options
    )


def dch():
    losses = pytest.importorskip("fewbits.learners.deep.losses")
    return deep_learner("dch", loss=losses.LOSSES["dch"](gamma=30.0))


def controlled():
    deep = pytest.importorskip("fewbits.learners.deep")
    return deep_learner("csq", control=deep.CONTROLS["posterior"](weight=0.1))


SHORT = {"training.max_epochs": 3, "network.hidden": ()}


@pytest.mark.parametrize(
    ("method", "learner", "settings"),
    [
        ("itq", lambda: ITQ(16, n_iter=3, random_state=0), {"n_iter": 3}),
        ("dbc", lambda: DBC(16, n_iter=3, random_state=0), {"n_iter": 3}),
        ("csq", lambda: deep_learner("csq"), SHORT),
        ("llc", lambda: deep_learner("llc"), {"training.max_epochs": 3}),
        ("dch", dch, {**SHORT, "loss.gamma": 30.0}),
        (
            "csq",
            controlled,
            {**SHORT, "control": "posterior", "control.weight": 0.1},
        ),
    ],
)
def test_the_same_collection(method, learner, settings):
    options = {"learner": method, "bits": 16, "parameters": settings}
    made = learner()
    expected = fewbits.fit(Input("vectors", X, names, "digits"), **options)
    found = Collection.from_learner(made.fit(X, names), X, names)
    assert found.summary() == expected.summary()
    np.testing.assert_array_equal(found.encode(X), expected.encode(X))
    if expected.codebook is not None:
        one, other = (part.classify(X[:20], top=3) for part in (found, expected))
        assert one.to_dict() == other.to_dict()


def test_groups_of_copies_reach_rejection():
    pytest.importorskip("torch")
    learner = deep_learner("csq").fit(X, names)
    options = {"learner": "csq", "bits": 16, "parameters": SHORT}
    groups = np.arange(400) // 2
    fitted = fewbits.fit(Input("vectors", X, names, "digits"), groups=groups, **options)
    for found in (fitted, Collection.from_learner(learner, X, names, groups=groups)):
        assert found.rejection.n_items == 200
    with pytest.raises(ArgumentError, match="need one group for each of 400 items, go"):
        Collection.from_learner(learner, X, names, groups=groups[:-1])
    shallow = ITQ(4, random_state=0).fit(X)
    with pytest.raises(ArgumentError, match="which deep methods learn from items of o"):
        Collection.from_learner(shallow, X, names, groups=groups)


def test_behind_a_kernel_map():
    learner = KernelMapped(ITQ(n_bits=8, random_state=0), kernel="chi2").fit(X)
    collection = Collection.from_learner(learner, X)
    assert collection.facts.method == "itq"
    assert collection.facts.kernel_map == "chi2"
    np.testing.assert_array_equal(collection.encode(X), learner.encode(X))


def test_several_labels():
    deep = pytest.importorskip("fewbits.learners.deep")
    Y = np.stack([y[:400] % 2, y[:400] < 5], axis=1).astype(np.int64)
    learner = made(deep.DeepHash, n_bits=16, max_epochs=3, random_state=0).fit(X, Y)
    assert len(Collection.from_learner(learner, X, Y).codebook) == 2
    assert len(Collection.from_learner(learner, X, sp.csr_matrix(Y)).codebook) == 2


@pytest.mark.parametrize(
    ("n", "labels", "backbone", "message"),
    [
        (400, None, None, "DBC was fitted to labels: give them too"),
        (400, names[:9], None, "400 items have 9 labels"),
        (400, "0", None, "y must be a list, got one string"),
        (400, np.roll(names, 1)[:400] + "x", None, "of other classes than those"),
        (400, names, "wordllama-256", "wordllama-256 makes 256 features, the learner"),
        (400, names, "none", "no backbone 'none'"),
    ],
)
def test_mistakes(n, labels, backbone, message):
    learner = DBC(n_bits=8, n_iter=1, random_state=0).fit(X, names)
    with pytest.raises(ArgumentError, match=message):
        Collection.from_learner(learner, X[:n], labels, backbone=backbone)


def test_numbers_of_numpy_are_told():
    learner = ITQ(np.int64(4), random_state=np.int64(0)).fit(X)
    parameters = Collection.from_learner(learner, X).facts.parameters
    assert (parameters["n_bits"], parameters["random_state"]) == (4, 0)
    assert type(parameters["n_bits"]) is int


@pytest.mark.parametrize("other", [X[:, :2], None, X[0]])
def test_no_such_matrix(other):
    with pytest.raises(FeatureError):
        Collection.from_learner(ITQ(4, random_state=0).fit(X), other)


def test_not_fitted():
    with pytest.raises(NotFittedError):
        Collection.from_learner(ITQ(), X)


def test_other_items():
    deep = pytest.importorskip("fewbits.learners.deep")
    learner = made(deep.DeepHash, n_bits=8, max_epochs=1, random_state=0).fit(X, names)
    with pytest.raises(ArgumentError, match="fitted to more than 50 items"):
        Collection.from_learner(learner, X[:50], names[:50])


def test_a_network_is_that_of_the_learner(tmp_path, monkeypatch):
    monkeypatch.setenv("FEWBITS_CACHE", str(tmp_path))
    pytest.importorskip("onnxscript")
    nn = pytest.importorskip("torch.nn")
    from fewbits.learners.deep import DeepHash, export_backbone

    def fitted(images):
        network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten())
        learner = made(DeepHash, 16, backbone=network, max_epochs=1, random_state=0)
        return learner.fit(images, names)

    images = np.repeat(15 * X.reshape(-1, 1, 8, 8), 3, axis=1).astype(np.uint8)
    dark = images.copy()
    dark[:8] = 0  # what the first images are does not tell the scale
    learner, swapped = fitted(dark), images[:, ::-1]
    name = export_backbone(learner.network_.backbone, size=8)
    found = Collection.from_learner(learner, dark, names, backbone=name)
    assert found.backbone == name
    assert found.rejection is None  # the network was trained on the classes
    with pytest.raises(ArgumentError, match="makes other features of these images"):
        Collection.from_learner(fitted(swapped), swapped, names, backbone=name)
    unscaled = dark.astype(np.float32)  # of 0 to 255, where the file takes 0 to 1
    learner = fitted(unscaled)
    name = export_backbone(learner.network_.backbone, size=8)
    with pytest.raises(ArgumentError, match="or the scale, that they have"):
        Collection.from_learner(learner, unscaled, names, backbone=name)
    with pytest.raises(ArgumentError, match="all images are black, which shows nothin"):
        Collection.from_learner(learner, 0 * unscaled, names, backbone=name)
    name = export_backbone(learner.network_.backbone, std=[1 / 255] * 3, size=8)
    assert (
        Collection.from_learner(learner, unscaled, names, backbone=name).backbone
        == name
    )
    scaled = images.astype(np.float32) / 255
    learner = fitted(scaled)
    name = export_backbone(learner.network_.backbone, size=8)
    assert (
        Collection.from_learner(learner, scaled, names, backbone=name).backbone == name
    )


def test_columns_of_a_data_frame_are_those_that_were_learnt_from():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=[f"pixel {i}" for i in range(X.shape[1])])
    collection = Collection.from_learner(
        ITQ(16, n_iter=3, random_state=0).fit(frame), frame
    )
    codes = collection.encode(X)
    np.testing.assert_array_equal(collection.encode(frame), codes)
    turned = frame[frame.columns[::-1]]
    np.testing.assert_array_equal(collection.encode(turned), codes)
    collection.add(turned)
    np.testing.assert_array_equal(collection.codes, codes)
    with pytest.raises(FeatureError, match="other columns than the encoder"):
        collection.encode(frame.rename(columns={"pixel 0": "ink"}))
    unnamed = pd.DataFrame(X)  # numbers of columns are not names
    np.testing.assert_array_equal(collection.encode(unnamed), codes)
