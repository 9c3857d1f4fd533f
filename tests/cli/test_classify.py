"""``fewbits classify`` and what ``inspect`` says about classes."""

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fewbits.codes import hamming_distances
from fewbits.collection import Collection
from tests.cli._calling import fail, run

NAMES = np.array(["ant", "bee", "cat", "dog"])
rng = np.random.default_rng(0)
y = np.repeat(np.arange(4), 25)
X = (np.eye(4, 8)[y] * 8 + rng.normal(size=(100, 8))).astype(np.float32)
# Whether a bit of a short training changes is decided by chance.
pytestmark = pytest.mark.filterwarnings("ignore:among the codes of training items")

SHORT = ["--set", "training.max_epochs=1"]
SHORT += ["--set", "codebook_training.max_epochs=1"]
SETTINGS = ["--set", "training.max_epochs=20"]
SETTINGS += ["--set", "network.hidden=[]"]
SETTINGS += ["--set", "training.learning_rate=0.02"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classify")
    table = {"vector": list(X), "label": NAMES[y].tolist(), "one": ["ant"] * 100}
    pq.write_table(pa.table(table), folder / "t.parquet")
    np.save(folder / "q.npy", X[::25])
    table = [folder / "t.parquet", "--column", "vector", "--label", "label"]
    first = ["--set", "codebook_training.max_epochs=10"]
    run("fit", *table, "-m", "llc", "-o", folder / "b", *first, *SETTINGS)
    run("build", folder / "b", *table)
    return folder


def test_columns_are_taken_by_name(tmp_path):
    """In any order, with a column of labels beside them or without."""
    rng = np.random.default_rng(0)
    y = np.repeat(["ant", "bee"], 20)
    X = rng.normal(size=(40, 3)) + 4 * (y == "bee")[:, None] * [1, -1, 2]
    rows = [",".join(map(str, (*x, label))) for x, label in zip(X, y, strict=True)]
    (tmp_path / "x.csv").write_text("\n".join(["a,b,c,label", *rows]))
    turned = [",".join(map(str, (*x[::-1], k))) for k, x in zip(y, X, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["c,b,a,label", *turned]))
    (tmp_path / "less.csv").write_text("a,b\n1,2\n")
    folder = tmp_path / "b"
    options = ["--label", "label", "-m", "itq", "-b", 3]
    run("fit", tmp_path / "x.csv", "-o", folder, *options)
    assert "feature_names" not in run("inspect", folder)
    codes = []
    for name in ("x", "t"):
        out = tmp_path / f"{name}.npy"
        run("encode", folder, tmp_path / f"{name}.csv", "-o", out)
        codes.append(np.load(out))
    assert np.array_equal(*codes)
    said = fail("encode", folder, tmp_path / "less.csv", "-o", tmp_path / "n.npy")
    assert "no column 'c', of 3 columns of numbers that are needed by name" in said


def test_classes_of_codes(folder):
    lines = run("classify", folder / "b", "-i", folder / "q.npy", "--json")
    answers = [json.loads(line) for line in lines.splitlines()]
    assert [each["class"] for each in answers] == NAMES.tolist()
    for each in answers:
        shares = [found["probability"] for found in each["classes"]]
        assert len(shares) == 3
        assert 0.9 < sum(shares) <= 1 + 1e-12  # rounded
    shown = run("classify", folder / "b", "-i", folder / "q.npy")
    assert "item 3" in shown
    assert "dog" in shown
    assert "note" not in shown
    for heading in ("bits that differ", "most probable classes"):
        assert set(heading.split()) <= set(re.findall(r"\w+", shown))
    np.save(folder / "unknown.npy", -X[:1])
    exact = ["-i", folder / "unknown.npy", "--decoder", "exact", "--top", 0]
    assert "\tnone\t-\n" in run("classify", folder / "b", *exact)


def test_out_of_distribution_items_are_of_no_class(folder, tmp_path):
    np.save(tmp_path / "q.npy", np.r_[X[::25], -X[::25]])
    question = ["classify", folder / "b", "-i", tmp_path / "q.npy", "--json"]
    found = [
        [json.loads(line)["class"] for line in run(*question, *more).splitlines()]
        for more in ([], ["--max-false-reject-rate", 0.05])
    ]
    assert found[0][:4] == found[1][:4] == NAMES.tolist()
    assert None not in found[0]
    assert found[1].count(None) >= 3
    for rate, value, told in (
        ("reject", 1e-5, "needs at least 99999 known items, but"),
        ("reject", 2, "max_false_reject_rate must be"),
        ("reject", 0, "above 0 and below 1, got 0.0"),
        ("accept", 0.05, "needs at least 52 known classes, but 4 were learnt from"),
    ):
        assert told in fail(*question, f"--max-false-{rate}-rate", value)
    assert "top must be at least 0" in fail(*question, "--top", -1)


# Four classes do not need sixteen bits.
@pytest.mark.filterwarnings("ignore:among the codes of training items, 2 of 16 bits")
def test_copies_are_named_by_a_column(tmp_path):
    rng = np.random.default_rng(1)
    groups = np.repeat([f"film {i}" for i in range(len(X) // 4)], 4)
    frames = np.repeat(X[::4], 4, 0) + 0.01 * rng.normal(size=X.shape)
    labels = np.repeat(NAMES[y][::4], 4)
    table = {"vector": list(frames), "label": labels, "film": groups}
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    fit = ["fit", tmp_path / "t.parquet", "--column", "vector", "--label", "label"]
    fit += ["-o", tmp_path / "b", "--overwrite", "--random-state", 0]
    deep = [*fit, "-m", "llc", "-b", 16, *SHORT]
    counted = []
    for more in ([], ["--groups", "film"], ["--groups", "film", "--sample", 60]):
        run(*deep, *more)
        counted.append(Collection.open(tmp_path / "b").rejection.n_items)
    assert counted[:2] == [len(X), len(X) // 4]
    assert counted[2] < 60
    for more, told in (
        (["--groups", "film"], "groups are for rejection, which deep methods learn"),
        (["--groups", "reel"], "'reel'"),
        (["--groups", "film", "--id", "film"], "another column than --id"),
    ):
        assert told in fail(*fit, *more)


def test_without_items_kept_aside(folder, tmp_path):
    table = [folder / "t.parquet", "--column", "vector", "--label", "label"]
    few = [*SHORT, "--set", "training.validation=0"]
    few += ["--set", "codebook_training.similarity_weight=0.1"]
    run("fit", *table, "-m", "llc", "-o", tmp_path / "b", *few)
    question = ["classify", tmp_path / "b", "-i", folder / "q.npy"]
    assert "classes" not in json.loads(run(*question, "--json").splitlines()[0])
    assert "these probabilities are not calibrated" in run(*question, "--top", 2)


def test_votes(folder):
    options = ["-i", folder / "q.npy", "--label", "label", "-k", 5, "--json"]
    answers = map(json.loads, run("classify", folder / "b", *options).splitlines())
    assert [each["class"] for each in answers] == NAMES.tolist()
    options = [each for each in options if each not in ("-k", 5)]
    linear = run("classify", folder / "b", *options, "--linear").splitlines()
    assert [json.loads(each)["class"] for each in linear] == NAMES.tolist()
    assert {"class", "score"} < json.loads(linear[0]).keys()


def test_inspect(folder):
    page = folder / "tree.html"
    options = ["--taxonomy", page, "--bound", "--label", "label"]
    found = json.loads(run("inspect", folder / "b", *options, "--json"))
    assert found["n_classes"] == 4
    assert found["bound"]["ratio"] > 0
    assert "ant" in page.read_text("utf-8")
    assert "known_tree" not in found["taxonomy"]
    assert not {"backbone", "callbacks"} & set(found["parameters"])
    assert "relations of classes" in run("inspect", folder / "b", *options)


def test_inspect_leaves_no_page_of_a_request_it_refuses(folder, tmp_path):
    page = tmp_path / "tree.html"
    options = ["--taxonomy", page, "--bound", "--label", "nothing"]
    fail("inspect", folder / "b", *options)
    (tmp_path / "t.json").write_text('{"ant": ["even"]}', "utf-8")
    options = ["--taxonomy", page, "--tree", tmp_path / "t.json"]
    options += ["--attributes", tmp_path / "bits.html"]
    assert "the tree lacks" in fail("inspect", folder / "b", *options)
    assert not list(tmp_path.glob("*.html"))


def test_inspect_beside_a_known_tree(folder, tmp_path):
    tree = {str(name): ["even" if i % 2 else "odd"] for i, name in enumerate(NAMES)}
    options = ["--taxonomy", tmp_path / "tree.html", "--tree", tmp_path / "t.json"]
    (tmp_path / "t.json").write_text(json.dumps({**tree, "oak": ["plant"]}), "utf-8")
    metrics = json.loads(run("inspect", folder / "b", *options, "--json"))["taxonomy"]
    assert -1 <= metrics["cophenetic_correlation"] <= 1
    known = metrics["known_tree"]
    (level,) = known["purity"]
    assert (level["n_groups"], level["n_classes"]) == (2, 4)
    for found in (level, known["cophenetic_correlation"]):
        assert 0 < found["p"] <= 1
    page = (tmp_path / "tree.html").read_text("utf-8")
    assert "<h2>Agreement</h2>" in page
    assert "known tree: purity, 2 groups of 4 classes" in page
    del tree[str(NAMES[0])]
    lacks = f"the tree lacks 1 of 4 classes, such as '{NAMES[0]}'"
    for text, told in ((json.dumps(tree), lacks), ("[]", "t.json holds no tree such")):
        (tmp_path / "t.json").write_text(text, "utf-8")
        assert told in fail("inspect", folder / "b", *options)
    assert (tmp_path / "tree.html").read_text("utf-8") == page
    alone = fail("inspect", folder / "b", *options[2:])
    assert "--tree needs --taxonomy" in alone


@pytest.mark.parametrize("method", ["csq", "greedyhash"])
def test_deep_methods_classify_and_reject(folder, tmp_path, method):
    table = [folder / "t.parquet", "--column", "vector", "--label", "label"]
    run("fit", *table, "-m", method, "-b", 16, "-o", tmp_path / "b", *SETTINGS)
    run("build", tmp_path / "b", *table)
    question = ["classify", tmp_path / "b", "-i", folder / "q.npy"]
    rate = ["--max-false-reject-rate", 0.2]
    for options in ([], ["--label", "label"], rate):
        answers = run(*question, *options, "--json").splitlines()
        assert [json.loads(each)["class"] for each in answers] == NAMES.tolist()
    held = Collection.open(tmp_path / "b").rejection.threshold(
        max_false_reject_rate=0.2
    )
    assert json.loads(answers[0])["accepted"] is True
    assert json.loads(answers[0])["expected"] == held._asdict()
    assert held.false_reject_rate <= 0.2
    shown = " ".join(run(*question, *rate).split())
    assert f"{held.false_reject_rate:.2g} of known items are expected" in shown
    assert "too few classes to predict" in shown
    wide = ["--decoder", "bounded", "--radius", 8]
    assert "% of all codes differ" in " ".join(run(*question, *wide).split())
    assert "of all codes" not in run(*question, "--decoder", "exact")


def test_codes_that_leave_no_room_are_told(folder):
    question = ["classify", folder / "b", "-i", folder / "q.npy"]  # 4 codes of 4 bits
    exact = ["--decoder", "exact"]
    for options, radius in (
        (exact, 0),
        (["--decoder", "bounded", "--radius", 0], 0),
        (["--decoder", "bounded"], 1),
    ):
        told = " ".join(run(*question, *options).split())
        assert f"of all codes differ in at most {radius} bits" in told
        assert ("25% of all" in told) == (radius == 0)
    for options in ([], ["--decoder", "nearest"], [*exact, "--json"]):
        assert "of all codes" not in run(*question, *options)


def test_a_collection_without_codes_of_classes(folder, tmp_path):
    run("fit", folder / "q.npy", "-m", "lsh", "-o", tmp_path / "b")
    told = fail("classify", tmp_path / "b", "-i", folder / "q.npy")
    assert "no class codes" in told


def test_several_labels(tmp_path):
    rng = np.random.default_rng(0)
    Y = (rng.random((400, 4)) < 0.4).astype(np.uint8)
    Z = (Y @ np.eye(4, 8) * 8 + rng.normal(size=(400, 8))).astype(np.float32)
    np.savez(tmp_path / "t.npz", vector=Z[:350], label=Y[:350])
    np.save(tmp_path / "q.npy", Z[350:])
    table = [tmp_path / "t.npz", "--column", "vector", "--label", "label"]
    run("fit", *table, "-m", "llc", "-b", 32, "-o", tmp_path / "b", *SETTINGS)
    question = ["classify", tmp_path / "b", "-i", tmp_path / "q.npy"]
    answers = [json.loads(each) for each in run(*question, "--json").splitlines()]
    found = np.array([np.isin(range(4), each["labels"]) for each in answers])
    right = (found & (Y[350:] > 0)).sum()
    assert 2 * right / (found.sum() + Y[350:].sum()) > 0.9  # F1
    for each in answers:
        scores = [label["score"] for label in each["ranked"]]
        assert scores == sorted(scores, reverse=True)
        assert (
            each["labels"]
            == [e["label"] for e in each["ranked"]][: len(each["labels"])]
        )
    shown = run(*question, "--top", 1)
    assert "best labels" in shown
    for option in (["--max-false-accept-rate", 0.1], ["--decoder", "nearest"]):
        assert "have several labels" in fail(*question, *option)
    run("build", tmp_path / "b", *table)
    votes = run(*question, "--label", "label", "-k", 5, "--json").splitlines()
    voted = np.array([np.isin(range(4), json.loads(v)["labels"]) for v in votes])
    right = (voted & (Y[350:] > 0)).sum()
    assert 2 * right / (voted.sum() + Y[350:].sum()) > 0.9
    for vote in map(json.loads, votes):
        most = [e["label"] for e in vote["ranked"] if e["score"] >= 0.5]
        assert vote["labels"] == most


def test_changed_codes_are_told(folder, tmp_path):
    table = [folder / "t.parquet", "--column", "vector", "--label", "label"]
    few = ["--set", "training.max_epochs=1", "--set", "codebook=svd", "-b", 2]
    told = run("fit", *table, "-m", "llc", "-o", tmp_path / "b", *few)
    found = json.loads(run("inspect", tmp_path / "b", "--json"))["repaired_classes"]
    assert (f"the codes of {found} class" in told) == (found > 0)


def test_codes_of_another_collection(folder, tmp_path):
    part = y > 0  # the classes are found by their names
    table = {"vector": list(X[part]), "label": NAMES[y[part]].tolist()}
    pq.write_table(pa.table(table), tmp_path / "p.parquet")
    some = [tmp_path / "p.parquet", "--column", "vector", "--label", "label"]
    given = ["-m", "llc", *SETTINGS, "--codebook", folder / "b"]
    run("fit", *some, *given, "-o", tmp_path / "c")
    first, second = (
        Collection.open(each).codebook for each in (folder / "b", tmp_path / "c")
    )
    assert second.names.tolist() == NAMES[1:].tolist()
    assert (first.codes[first.rows(second.names)] == second.codes).all()
    facts = json.loads(run("inspect", tmp_path / "c", "--json"))
    assert facts["codebook"] == str(folder / "b")
    asked = ["--input", folder / "q.npy", "-k", 1]
    own = run("search", folder / "b", *asked)
    other = run("search", folder / "b", *asked, "--encoder", tmp_path / "c")
    assert own.count("label") == other.count("label") > 0
    told = fail("search", tmp_path / "c", *asked, "--encoder", folder / "b")
    assert "holds no rows yet" in told
    whole = [folder / "t.parquet", "--column", "vector", "--label", "label"]
    new = ["-m", "llc", "-o", tmp_path / "d", "--codebook", tmp_path / "c"]
    told = fail("fit", *whole, *new)
    assert "no codes for 1 of 4 classes, such as 'ant'" in told
    assert "have 4 bits, not 9" in fail("fit", *some, *new, "-b", 9)
    run("fit", folder / "q.npy", "-m", "lsh", "-o", tmp_path / "plain")
    new[-1] = tmp_path / "plain"
    assert "without class codes" in fail("fit", *some, *new)


def test_codes_of_a_tree(folder, tmp_path):
    tree = {str(name): ["even" if i % 2 else "odd"] for i, name in enumerate(NAMES)}
    (tmp_path / "t.json").write_text(json.dumps({**tree, "oak": ["plant"]}), "utf-8")
    table = [folder / "t.parquet", "--column", "vector", "--label", "label"]
    given = ["-m", "llc", "-o", tmp_path / "b", "--codebook", tmp_path / "t.json"]
    run("fit", *table, *given, *SETTINGS, "-b", 6)
    book = Collection.open(tmp_path / "b").codebook
    assert book.n_bits == 6
    distances = hamming_distances(book.codes, book.codes)
    assert distances[0, 2] < min(distances[0, [1, 3]])
    del tree["ant"]
    (tmp_path / "t.json").write_text(json.dumps(tree), "utf-8")
    given[3] = tmp_path / "c"
    told = fail("fit", *table, *given)
    assert "the tree lacks 1 of 4 classes, such as 'ant'" in told


CSQ = ["fit", "q.npy", "-m", "csq", "-o", "c", "--set"]
LLC = ["-m", "llc", "-o", "c", "--codebook", "b"]
VECTORS = ["--column", "vector", "--label", "label"]
RATES = ["--max-false-reject-rate", 0.1, "--max-false-accept-rate", 0.1]
ON_TPU = ["-m", "llc", "-o", "c", "--device", "tpu9"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["classify", "b"], "give either items or one of --input"),
        (["classify", "b", "-i", "q.npy", "-d", "best"], "no decoder 'best'"),
        (
            ["classify", "b", "-i", "q.npy", "-d", "orbgrand", "--max-queries", 0],
            "max_queries",
        ),
        (["classify", "b", "-i", "q.npy", "-d", "bounded", "--radius", -1], "radius"),
        (["classify", "b", "-i", "q.npy", "--label", "kind"], "kind"),
        (
            ["classify", "b", "-i", "q.npy", "--label", "label", "--top", 1],
            "top applies only",
        ),
        (
            ["classify", "b", "-i", "q.npy", "--label", "label", "-d", "soft"],
            "decoder applies only",
        ),
        (["classify", "b", "-i", "q.npy", "--radius", 2], "needs --decoder bounded"),
        (["classify", "b", "-i", "q.npy", "--linear"], "--linear needs --label"),
        (["classify", "b", "-i", "q.npy", "-k", 3], "-k needs --label"),
        (
            ["classify", "b", "-i", "q.npy", "--label", "label", "--linear", "-k", 3],
            "k is of votes, not of linear",
        ),
        (
            ["classify", "b", "-i", "q.npy", "--max-queries", 9],
            "needs --decoder orbgrand",
        ),
        (["classify", "b", "-i", "q.npy", "--order", "ranks"], "--decoder orbgrand"),
        (["classify", "b", "-i", "q.npy", "-d", "orbgrand", "--order", "x"], "order"),
        (
            ["fit", "t.parquet", "--column", "vector", "--label", "label", *ON_TPU],
            "no device 'tpu9'",
        ),
        (["classify", "b", "an ant"], "use --input"),
        (
            ["classify", "b", "-i", "q.npy", *RATES],
            "give either --max-false-reject-rate or --max-false-accept-rate",
        ),
        (["inspect", "b", "--bound"], "--bound needs --label"),
        (["inspect", "b", "--taxonomy", "tree.txt"], ".html file"),
        (["fit", "q.npy", "-m", "llc", "-o", "c"], "llc learns from labels"),
        (["fit", "q.npy", *LLC], "llc learns from labels"),
        ([*CSQ[:-1], "--codebook", "b"], "a codebook is for llc, not for csq"),
        (
            ["fit", "t.parquet", *VECTORS, *LLC, "--set", "codebook=svd"],
            "give one codebook, got b and svd",
        ),
        (["fit", "t.parquet", *VECTORS, *LLC[:-1], "x"], "x is not a collection"),
        ([*CSQ, "loss=hashnet"], "csq has no parameter 'loss'; it has n_bits"),
        (
            [*CSQ, "quantization=1"],
            "did you mean 'loss.quantization'?); it has n_bits",
        ),
        (
            ["fit", "t.parquet", "--column", "vector", "--label", "one", *CSQ[2:6]],
            "csq needs at least 2 classes, and all labels of t.parquet are the same",
        ),
        ([*CSQ, "loss.gamma=1"], "no parameter 'loss.gamma'"),
        ([*CSQ, "control.mode=add"], "needs control=posterior or control=centres"),
        (
            [*CSQ, "control=centres", "--set", "control.block=2"],
            "control=centres has no parameter 'control.block'; it has control.centres",
        ),
    ],
)
def test_mistakes(folder, monkeypatch, arguments, message):
    monkeypatch.chdir(folder)
    told = fail(*arguments)
    assert message in told
    assert told.count("\n") == 1
