"""Experiments on deep codes: what is drawn, chosen and shown."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from experiments import (
    _cells,
    _hash_problems,
    _known_trees,
    _llc_foreign_page,
    _llc_page,
    _llc_separability_page,
    _llc_taxonomy_page,
    _posterior_page,
    _posterior_peers,
    llc,
    llc_foreign,
    llc_retrieval,
    llc_separability,
    llc_taxonomy,
    posterior_control,
    posterior_map,
)
from experiments._caltech_synsets import SYNSETS
from experiments._hash_problems import HashProblem
from experiments._llc_problems import ClassProblem
from fewbits.datasets import Dataset, available
from fewbits.learners.deep import LLC
from fewbits.learners.deep._trainer import smooth
from tests.learners._made import made


@pytest.fixture(autouse=True)
def images(tmp_path, monkeypatch):
    for module in (_llc_page, _llc_taxonomy_page, _posterior_peers):
        monkeypatch.setattr(module, "IMAGES", tmp_path)


def test_networks_are_drawn_against_a_bound_that_differs(tmp_path):
    def networks(bounds):
        made = {"bits": 32, "method": "csq", "control": ""}
        figures = [{"bound": each, "map": 0.5 + each} for each in bounds]
        return [{"cell": made, "figures": each} for each in figures]

    def told(bounds):
        name, head = "icd10-words", "linear"
        return list(_posterior_peers.against_bound(networks(bounds), name, head))

    assert told([0.0] * 3) == ["All networks of 32 bits have a bound ratio of 0."]
    (drawn,) = told([0.1, 0.2, 0.4])
    assert drawn.startswith("![mAP against the bound]")
    assert told([]) == []


def test_labels_are_the_common_long_words(monkeypatch):
    monkeypatch.setattr(_hash_problems, "N_WORDS", 2)
    texts = ["Fracture of femur, right", "fracture of tibia (right)", "burn of hand"]
    labels = _hash_problems.word_labels(texts)
    assert labels.tolist() == [[1, 1], [1, 1], [0, 0]]


def test_what_ranks_best_aside_is_chosen(monkeypatch, results):
    def aside(data, head, loss, control, given):
        tried.append((control, given))
        best_rate = -2.5 if control else -3.0
        quality = -abs(np.log10(given.rate) - best_rate) + (given.variant == "eta 1")
        return quality - (abs(np.log10(given.weight) - best[0]) if control else 0)

    monkeypatch.setattr(posterior_control, "held_out", aside)
    chosen = partial(posterior_control.settings, "any", "linear", "csq")
    tried, best = [], [0.0]
    assert chosen("") == ("", None, 1e-3)
    assert len(tried) == 3
    for best[0], weight in ((-1.1, 0.1), (-2.1, 0.01), (0.4, 3.0), (9.0, 300.0)):
        assert chosen("D") == chosen("frozen") == ("", weight, 3e-3)
    assert {control for control, _ in tried} == {"", "D"}
    best[0] = 0.0
    assert posterior_control.settings("any", "mlp", "dsdh", "D") == ("eta 1", 1.0, 3e-3)


def test_what_was_measured_with_other_settings_is_measured_again(monkeypatch):
    monkeypatch.setattr(
        posterior_control, "settings", lambda *_: posterior_control.Settings("", 0.1, 1)
    )
    cell = {"data": "any", "head": "linear", "method": "csq", "control": "D"}
    known = {"variant": "", "weight": 0.1, "rate": 1, "map": 0.5}
    assert not posterior_control.outdated(cell, None)
    assert not posterior_control.outdated(cell, known)
    assert posterior_control.outdated(cell, {**known, "weight": 0.3})


def test_every_variant_can_be_made():
    for loss, variants in posterior_control.VARIANTS.items():
        for variant, options in variants.items():
            made = posterior_control.loss_of(loss, variant)
            assert all(getattr(made, name) == each for name, each in options.items())


def test_nothing_that_is_asked_is_chosen_on(monkeypatch):
    def load(name, seed):
        order = np.random.default_rng(seed).permutation(200)
        return _hash_problems.HashProblem(
            None, None, order[50:], order[:20], order[20:], None
        )

    monkeypatch.setattr(_hash_problems, "load_problem", load)
    _hash_problems.choice_problem.cache_clear()
    train = _hash_problems.choice_problem("any", 1000, 5).train
    asked = np.concatenate([load("any", seed).query for seed in range(5)])
    assert 50 < len(train) < 150
    assert not np.isin(train, asked).any()
    _hash_problems.choice_problem.cache_clear()


def test_every_loss_has_every_control():
    cells = list(posterior_control.lineup("caltech101", "linear", 0))
    assert len(cells) == 7 * 3 * 4 + 11 * 3
    last = list(posterior_control.lineup("caltech101", "linear", 4))
    assert len(last) == 7 * 3 * 2 + 11 * 3
    mlp = list(posterior_control.lineup("caltech101", "mlp", 0))
    assert len(mlp) == 7 * 3 + 11 * 3  # no control beside a loss
    alone = [cell for cell in last if cell["method"] == "D alone"]
    assert [(cell["control"], cell["bits"]) for cell in alone] == [
        ("", 16),
        ("", 32),
        ("", 64),
    ]


def test_control_takes_the_place_of_the_loss(monkeypatch):
    monkeypatch.setattr(posterior_control, "N_ITER", 3)
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 20)
    X = (rng.normal(size=(80, 8)) + 4 * np.eye(4, 8)[y]).astype(np.float32)
    chosen = posterior_control.Settings("", 0.0, 1e-3)
    alone = posterior_control.make("D alone", "", chosen, "linear", 8, 0)
    other = posterior_control.make("csq", "D", chosen, "linear", 8, 0)
    assert alone.control.mode == "replace"
    assert alone.fit(X, y).objective_[0] > 0
    assert (alone.encode(X) != other.fit(X, y).encode(X)).any()


def test_page_of_controls(results, write_cells):
    figures = {"map": 0.5, "accuracy": 0.6, "seconds_per_epoch": 1.0}
    cells = [
        (
            cell,
            {
                **figures,
                "map": 0.5 + 0.1 * (cell["control"] == "D") + 0.01 * seed,
                "bound": 0.4 + 0.1 * seed + 0.1 * (cell["control"] == "D"),
                **({"classifier": 0.7} if cell["method"] == "dsdh" else {}),
                "seconds_per_epoch": 1.0 + 2 * (cell["control"] == "D"),
                "variant": "memory" if cell["method"] == "hashnet" else "",
                "rate": 0.003,
                "weight": 0.1 if cell["control"] else None,
            },
        )
        for seed in range(2)
        for cell in posterior_control.lineup("caltech101", "linear", seed)
    ]
    write_cells(results / "posterior_control.jsonl", cells)
    curves = {"map": [0.1, 0.5], "bound": [0.2, 0.4]}
    followed = [
        ({**cell, "seed": 1000 + seed}, {**found, **curves})
        for seed in range(2)
        for cell, found in cells[: len(cells) // 2]
    ]
    write_cells(results / "posterior_epochs.jsonl", followed)
    choice = {"data": "caltech101", "head": "linear", "method": "csq"}
    choice |= {"control": "D", "weight": 0.1, "rate": 0.003}
    choices = [(choice, {"map": 0.812})]
    choices += [({**choice, "weight": 0.03}, {"map": 0.79})]
    choices += [({**choice, "control": "", "weight": None}, {"map": 0.7})]
    choices += [({**choice, "weight": 0.01, "rate": 0.1}, {"map": 0.9})]  # left out
    write_cells(results / "posterior_choices.jsonl", choices)
    made = {"data": "caltech101", "method": "hashnet", "control": "D"}
    placed = {"points": [[0.0, 1.0], [1.0, 2.0]], "labels": ["a", "b"], "bound": 0.52}
    write_cells(results / "posterior_map.jsonl", [(made, placed)])
    references = {"data": "caltech101", "bits": 32, "method": "CCA-ITQ", "seed": 0}
    write_cells(results / "llc_retrieval.jsonl", [(references, {"map": 0.61})])
    _posterior_page.write()
    page = (results / "posterior_control.md").read_text("utf-8")
    assert "| csq + D | +0.100 ± .000 | +0.100 ± .000 | +0.100 ± .000 |" in page
    assert "| csq + frozen D | +0.000 ± .000 |" in page
    assert "| D alone | .505 ± .005 | .505 ± .005 | .505 ± .005 |" in page
    assert "D alone +" not in page
    assert "| csq + D |  | 0.003 | 0.1 | .812 |\n" in page
    assert "| csq |  | 0.003 |  | .700 |\n" in page
    assert "| hashnet | memory | 0.003 |  |  |\n" in page
    each = "+0.100 ± .000 | +0.100 ± .000 | +0.100 ± .000 |"
    assert f"| D less nothing, mean over the losses | {each}" in page
    assert f"| D less a surrogate as it was drawn | {each}" in page
    assert "| in place of a loss: D less the targets | +0.000 ± .000 |" in page
    assert "|  | 0 | 0.03 | 0.1 |" in page
    assert "| csq + D | .700 | .790 | .812 |" in page
    assert "own classifier of codes" in page
    assert "| CCA-ITQ, here |  | .610 |  |" in page
    assert "1.00 ± .00 over the networks of 16 bits, with D and without" in page
    assert "1.00 ± .00 over the epochs of csq + D at 64 bits" in page
    assert "| csq | .562 / **.505 ± .005** |" in page
    assert "| D alone | .500 / .505 ± .005 |" in page
    assert (results / "posterior_caltech101_linear_bound.svg").exists()
    assert "hashnet + D by t-SNE, bound .52" in page
    assert (results / "posterior_caltech101_linear.svg").exists()
    assert (results / "posterior_caltech101_linear_epochs.svg").exists()


def test_what_is_kept_aside_is_the_same_for_all(monkeypatch):
    chosen = posterior_control.Settings("", 0.1, 1)
    monkeypatch.setattr(posterior_control, "settings", lambda *_: chosen)

    def measured(self, cell, *_, again):
        late = cell["seed"] > posterior_control.CHOSEN_SEED
        return {"map": [0.1] * 10 + [0.9] * 20 if late else [0.5] * 10 + [0.2] * 20}

    monkeypatch.setattr(_cells.Cells, "measure", measured)
    for loss in ("dch", "csq"):  # of csq more seeds are looked at, and do not count
        assert posterior_control.best_epoch("any", "linear", 8, loss, "D") == (1, 0.5)
    assert len(posterior_control.curves("any", "linear", 8, "csq", "D")) == 3
    assert len(posterior_control.curves("any", "mlp", 8, "csq", "D")) == 1
    found = posterior_control.best_epoch("any", "linear with decay", 8, "csq", "")
    assert found == (15, pytest.approx(0.5))  # the first of nine good ones in a row


@pytest.mark.parametrize("experiment", ["posterior_control", "llc_retrieval"])
def test_seeds_of_a_mean_have_the_same_settings(experiment):
    chosen = ("variant", "weight", "rate", "epochs")
    known = {}
    for measured in _cells.Cells(experiment):
        cell = {k: v for k, v in measured["cell"].items() if k != "seed"}
        made = [measured["figures"].get(name) for name in chosen]
        assert known.setdefault(str(sorted(cell.items())), made) == made, cell
    assert known


def test_retrieval_follows_what_is_chosen_and_measured(monkeypatch):
    cell = {"data": "any", "bits": 16, "method": "LLC", "seed": 0}
    monkeypatch.setattr(llc_retrieval, "settled", lambda *_: (1e-3, 40))
    known = {"map": 0.5, "rate": 1e-3, "epochs": 40}
    assert not llc_retrieval.superseded(cell, None)
    assert not llc_retrieval.superseded(cell, known)
    assert llc_retrieval.superseded(cell, {**known, "epochs": 41})
    assert llc_retrieval.superseded(cell, {"map": 0.5})
    assert not llc_retrieval.superseded({**cell, "method": "ITQ"}, {"map": 0.5})
    monkeypatch.setattr(llc_retrieval, "loss_figures", lambda **_: {"map": 0.6})
    cell["method"] = "HashNet"
    assert llc_retrieval.superseded(cell, {"map": 0.5})
    assert not llc_retrieval.superseded(cell, {"map": 0.6})


def test_a_cell_is_measured_again_for_another_number_of_epochs(monkeypatch):
    monkeypatch.setattr(
        posterior_control, "settings", lambda *_: posterior_control.Settings("", 0.1, 1)
    )
    monkeypatch.setattr(posterior_control, "best_epoch", lambda **_: (7, 0.5))
    cell = {"data": "any", "head": "linear", "method": "csq", "control": "D", "bits": 8}
    known = {"variant": "", "weight": 0.1, "rate": 1, "epochs": 7, "held_out": 0.5}
    old = {key: value for key, value in known.items() if key != "held_out"}
    assert not posterior_control.superseded({**cell, "seed": 0}, None)
    assert not posterior_control.superseded({**cell, "seed": 0}, known)
    assert posterior_control.superseded({**cell, "seed": 0}, {**known, "epochs": 9})
    assert posterior_control.superseded({**cell, "seed": 0}, {**known, "rate": 2})
    assert posterior_control.superseded({**cell, "seed": 0}, old)


def test_all_items_are_trained_on_for_the_best_number_of_epochs(monkeypatch, results):
    monkeypatch.setattr(posterior_control, "N_ITER", 6)
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 20)
    X = (rng.normal(size=(80, 8)) + 2 * np.eye(4, 8)[y]).astype(np.float32)
    rows = np.arange(80)
    train, query = rows[rows % 2 > 0], rows[rows % 2 == 0]
    problem = HashProblem(X, y, train, query, train, None)
    for name in ("load_problem", "choice_problem"):
        monkeypatch.setattr(posterior_control, name, lambda *_: problem)
    chosen = posterior_control.Settings("", None, 1e-2)
    monkeypatch.setattr(posterior_control, "settings", lambda *_: chosen)
    found = posterior_control.figures("any", "linear", 8, "csq", "", 0)
    (kept,) = _cells.Cells("posterior_epochs")
    values = kept["figures"]["map"]
    assert len(values) == 6
    means = smooth(values)
    assert found["epochs"] == 1 + np.argmax(means)
    assert found["held_out"] == pytest.approx(max(means))
    again = posterior_control.make("csq", "", chosen, "linear", 8, 0)
    again.set_params(training__max_epochs=found["epochs"], training__validation=0)
    again.fit(X[train], y[train])
    assert posterior_control.quality(again, problem)["map"] == found["map"]


def test_nouns_are_classes_by_what_is_above_them(monkeypatch):
    monkeypatch.setattr(_hash_problems, "NOUN_DEPTH", 1)
    monkeypatch.setattr(_hash_problems, "N_BLOCK", 2)
    monkeypatch.setattr(_hash_problems, "N_ASKED", 1)
    keys = ["thing.n.01", "cat.n.01", "cup.n.01", *map(str, range(7))]
    above = ["", *["thing.n.01"] * 2, *["cat.n.01"] * 3, *["cup.n.01"] * 4]
    labels = {"hypernym": np.array(above), "domain": np.array(["any"] * 10)}
    nouns = Dataset("wordnet", "texts", [f"word {key}" for key in keys], keys, labels)
    monkeypatch.setattr(_hash_problems.datasets, "load_wordnet", lambda: nouns)
    problem = _hash_problems.load_problem.__wrapped__("wordnet", 0)
    assert sorted(problem.labels[problem.train]) == ["cat.n.01"] * 2 + ["cup.n.01"] * 2
    assert sorted(problem.labels[problem.query]) == ["cat.n.01", "cup.n.01"]
    assert problem.X.shape == (9, 256)  # all but the root
    monkeypatch.setattr(_known_trees, "load_wordnet", lambda: nouns)
    known = _known_trees.known_classes("wordnet", np.unique(problem.labels))
    assert known.paths[0] == ("thing.n.01", "cat.n.01", "cat.n.01")
    assert known.kinds == ["any", "any"]


def test_every_class_of_caltech_has_a_sense():
    assert len(SYNSETS) == 101
    if not {e.name: e.present for e in available()}["wordnet"]:
        pytest.skip("WordNet is not on this machine")
    paths, kinds = _known_trees.known_classes("caltech101", np.array([*SYNSETS]))
    above = dict(zip(SYNSETS, (path[:-1] for path in paths), strict=True))
    assert above["cougar_body"] == above["cougar_face"] != above["wild_cat"]
    assert "feline.n.01" in above["wild_cat"]
    assert "rodent.n.01" in above["beaver"]
    assert kinds.count("animal") == 42
    animals = ["bird", "cat", "deer", "dog", "frog", "horse"]
    cifar10 = np.array(["airplane", "automobile", *animals, "ship", "truck"])
    paths, kinds = _known_trees.known_classes("cifar10", cifar10)
    assert paths[0][-2:] == ("airplane.n.01", "airplane")
    assert kinds == ["artifact"] * 2 + ["animal"] * 6 + ["artifact"] * 2


def test_few_classes_have_few_directions_to_cluster():
    assert "SVD" in llc_taxonomy.codebooks_of(14, 100)
    assert not {"SVD", "CCA"} & {*llc_taxonomy.codebooks_of(14, 10)}
    assert {*llc.BESIDE} <= {*llc_taxonomy.codebooks_of(14, 10)}
    assert llc_taxonomy.codebooks_of(0, 10) == [*llc_taxonomy.REAL]


@pytest.mark.parametrize("method", llc.BESIDE)
def test_codes_not_made_for_classifying_are_decoded(method, monkeypatch):
    monkeypatch.setattr(llc, "N_ITER", 80)
    rng = np.random.default_rng(0)
    y = np.repeat(list("abcdef"), 30)
    X = 3 * rng.normal(size=(6, 12))[np.repeat(range(6), 30)]
    X = (X + rng.normal(size=X.shape)).astype(np.float32)
    rows = np.arange(180)
    problem = ClassProblem(X, y, rows[rows % 3 > 0], rows[rows % 3 == 0])
    found = llc.figures(problem, "any", 8, method, 0)
    assert found["exact"] <= found["nearest"] <= found["soft"] + 0.1
    assert found["nearest"] > 0.4  # chance: 0.17


@pytest.mark.parametrize("method", llc.AS_IS)
def test_codes_that_classes_share_stay_as_they_are(method, monkeypatch):
    monkeypatch.setattr(llc, "N_ITER", 5)
    rng = np.random.default_rng(0)
    y = np.repeat(list("abcdefgh"), 20)
    X = (np.eye(8, 12)[np.repeat(range(8), 20)] + rng.normal(0, 0.3, (160, 12))) * 9
    rows = np.arange(160)
    problem = ClassProblem(X.astype("f4"), y, rows[rows % 3 > 0], rows[rows % 3 == 0])
    book = llc.codebook_as_it_is(problem, 3, method)
    assert book.shape == (8, 3)
    assert len(np.unique(book, axis=0)) < 8
    found = llc.figures(problem, "any", 3, method, 0)
    assert found["unique"] == len(np.unique(book, axis=0))
    assert found["repaired"] == 0


def test_purity_is_of_the_level_with_the_most_groups():
    rng = np.random.default_rng(0)
    y = np.repeat(list("abcdef"), 6)
    X = (np.eye(6)[np.repeat(range(6), 6)] + rng.normal(0, 0.1, (36, 6))).astype("f4")
    problem = ClassProblem(X, y, np.arange(36), np.arange(36))
    paths = [
        ("root", group, name) for group, name in zip("112233", "abcdef", strict=True)
    ]
    known = _known_trees.KnownClasses(paths, list("112233"))
    found = llc_taxonomy.figures(problem, known, "any", 0, "class means", 0)
    assert found["groups"] == 3


def test_page_of_codebooks(results, write_cells):
    found = {key: 0.5 for key in _llc_page.TABLES} | {"nearest": 0.55}
    for order in llc.ORDERS:
        found[f"guessed by {order}"] = np.linspace(0.3, 0.6, len(llc.BUDGETS)).tolist()
        found[f"guesses by {order}"] = list(range(1, len(llc.BUDGETS) + 1))
    found["within"] = np.linspace(0.3, 0.6, len(llc.RADII)).tolist()
    found["within, look-ups"] = [1, 15, 106, 470, 1471]
    nested = {f"at {m}": {llc.MHD: 0.4} for m in (10, 14, 20, 24)}
    cells = [
        (
            cell,
            nested
            if "nested" in cell["method"]
            else {
                **{"accuracy": 0.9, **found},
                "held_out": {"exact": cell["method"] == "SVD", "nearest": 0.5},
            },
        )
        for cell in llc.lineup("caltech101", 0, 100)
    ]
    write_cells(results / "llc.jsonl", cells)
    _llc_page.write()
    page = (results / "llc.md").read_text("utf-8")
    assert "A linear SVM on the features: 0.900" in page
    assert "| 14 bits | SVD .500 (.036 of bits right, 0.5 apart) |" in page
    assert "| 7 bits | 8 bits | 10 bits | 14 bits | 20 bits | 24 bits |" in page
    assert "\n| 7 bits | LLC" not in page  # nothing to choose from
    assert "| LLC | .500 | .500 | .500 | .500 |" in page
    assert "| LLC | .601 / **.550** |" in page  # as public code counts
    assert "| LLC | .601 / **.500** |" in page
    assert "| LLC .500 (.036 of bits right, 0.5 apart) |" in page
    assert "| LLC from SVD | .484 / .500 |" in page
    assert "| first bits of the nested | .400 | .400 | .400 | .400 |" in page
    assert (results / "llc_caltech101_14.svg").exists()


def test_foreign_items_beside_a_classifier_that_was_chosen(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(8), 30)
    X = (rng.normal(size=(240, 12)) + 4 * np.eye(8, 12)[y]).astype(np.float32)
    rows = np.arange(240)
    train, query = rows[rows % 3 > 0], rows[rows % 3 == 0]
    problem = HashProblem(X, y, train, query, train, None)
    monkeypatch.setattr(llc_foreign, "load_problem", lambda *_: problem)
    for name, value in (("N_ITER", 3), ("CODEBOOK_EPOCHS", 3), ("COSTS", (1e-9, 0.1))):
        monkeypatch.setattr(llc_foreign, name, value)
    learnt = llc_foreign.Problem("any", 0, "held-out classes")
    for peer in llc_foreign.BESIDE:
        found = learnt.figures_of_peer(peer, 16)
        assert 0.3 < found["auroc"] <= 1
        assert set(found["rules"]) == {"radius 0", "radius 1"}
    found = learnt.figures(16)
    assert found["scores"]["max logit"]["auroc"] > 0.8
    assert found["scores"]["max softmax"]["auroc"] > 0.8
    assert {"radius 0", "predicted, 0.05"} <= set(found["rules"])
    pairs = len(llc_foreign.TUNED_ON) * len(llc_foreign.MET)
    assert len(found["tuned"]) == pairs
    assert len(found["rules"]["radius 0"]["mixtures"]) == len(llc_foreign.MET)
    assert {"met", *llc_foreign.MEASURES} == set(
        found["rules"]["radius 0"]["mixtures"][0]
    )


def test_page_of_foreign_items(results, write_cells):
    tuned = [
        {"tuned_on": share, "met": met, "F1 (unknown)": 0.9, "balanced accuracy": 0.6}
        for share in (0.1, 0.5)
        for met in (0.1, 0.5)
    ]
    one = {"F1 (unknown)": 0.8, "balanced accuracy": 0.7}
    mixtures = [{"met": met, **one} for met in (0.1, 0.5)]
    rule = {"balanced": 0.7, "unknown_accepted": 0.02, "predicted_rate": 0.01}
    cells = [
        (
            {"data": "caltech101", "bits": bits, "method": kind, "seed": seed},
            {
                "scores": {"max logit": {"auroc": 0.9 + 0.02 * seed, "fpr95": 0.3}},
                "rules": {"radius 0": {**rule, "mixtures": mixtures}},
                "tuned": tuned,
            },
        )
        for kind in ("background", "held-out classes")
        for bits in (14, 20)
        for seed in range(2)
    ]
    write_cells(results / "llc_foreign.jsonl", cells)
    peer = {"data": "caltech101", "bits": 14, "method": "OrthoHash", "seed": 0}
    known = {"auroc": 0.61, "fpr95": 0.7, "rules": {"radius 0": 0.55, "radius 1": 0.56}}
    other = {**peer, "unknown": "background"}
    write_cells(results / "llc_foreign_peers.jsonl", [(other, known)])
    _llc_foreign_page.write()
    page = (results / "llc_foreign.md").read_text("utf-8")
    assert "| max logit | .910 ± .010 |" in page
    assert "| max logit | .300 ± .000 |" in page
    assert page.count("| nearness to codes of classes, OrthoHash | .610 |") == 1
    assert "| radius 0, OrthoHash | .550 |" in page
    assert "| radius 0 | .020 ± .000 (.010 ± .000) |" in page
    assert "| max logit, tuned on 50% | .900 ± .000 | .900 ± .000 |" in page
    assert "| radius 0, 20 bits | .800 ± .000 | .800 ± .000 |" in page
    _, balanced = page.split("Balanced accuracy:", 1)
    assert "| max logit, tuned on 50% | .600 ± .000 |" in balanced
    assert "| radius 0, 20 bits | .700 ± .000 |" in balanced


def test_page_of_taxonomies(results, write_cells):
    real = {key: 0.5 for key in _llc_taxonomy_page.TABLES}
    real |= {"purity_chance": 0.16, "purity_p": 0.005, "cophenetic_p": 0.01}
    paths = [["I", "A00"], ["I", "A15"], ["II", "C00"]]
    book = {"codes": ["000000", "000010", "fffff0"], "paths": paths}
    vectors = np.array([[1.0, 0.2], [1.0, 0.1], [-0.1, 1.0]])
    rows = {"cosines": llc_taxonomy.cosines(vectors)}
    cells = [
        ({"data": "icd10", "bits": bits, "method": method, "seed": 0}, real | more)
        for bits, method, more in [
            (0, "classifier rows", rows),
            (0, "class means", {}),
            (20, "learnt", book),
            (20, "SVD", book),
        ]
    ]
    write_cells(results / "llc_taxonomy.jsonl", cells)
    _llc_taxonomy_page.write()
    page = (results / "llc_taxonomy.md").read_text("utf-8")
    assert "|  | real | 20 bits |" in page
    assert "| learnt | .010 | .005 |" in page
    assert (results / "llc_taxonomy_icd10.svg").exists()
    assert (results / "llc_taxonomy_icd10_classifier.svg").exists()


def test_vectors_have_the_cosines_that_were_kept():
    vectors = np.random.default_rng(0).normal(size=(6, 9))
    kept = llc_taxonomy.cosines(vectors)
    found = _llc_taxonomy_page.vectors_of(kept)
    np.testing.assert_allclose(llc_taxonomy.cosines(found), kept, atol=2)


def test_networks_are_trained_in_every_way(monkeypatch):
    for name, value in (("WIDTHS", (16, 8)), ("N_ITER", 3), ("CODEBOOK_EPOCHS", 3)):
        monkeypatch.setattr(llc_separability, name, value)
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(6), 20)
    X = (rng.normal(size=(120, 10)) + 4 * np.eye(6, 10)[y]).astype(np.float32)
    rows = np.arange(120)
    problem = ClassProblem(X, y, rows[rows % 4 > 0], rows[rows % 4 == 0])
    found = llc_separability.figures(problem, 6, 0)
    assert set(found["phases"]) == {"1", "2"}
    for way in ("trained for codes", *llc_separability.TRAINED):
        assert 0 <= found[way]["exact"] <= found[way]["nearest"] <= 1
    assert found["linear on the classifier's features"] > 0.5


def test_phase_one_is_that_of_both():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(12), 20)
    X = (rng.normal(size=(240, 10)) * 2 + 4 * np.eye(12, 10)[y]).astype(np.float32)
    options = {"max_epochs": 5, "bias": False, "random_state": 0}
    loss = llc_separability.PhaseOneLoss()
    one = made(llc_separability.PhaseOne, 5, loss=loss, **options).fit(X, y)
    both = made(LLC, 5, codebook_epochs=5, **options).fit(X, y)
    assert both.n_repaired_ > 0
    book = one.codebook_of_classes()
    assert (book.codes == both.codebook_of_classes().codes).all()
    accuracies = [epoch["accuracy"] for epoch in one.history_]
    assert accuracies == [epoch["accuracy"] for epoch in both.codebook_history_]


def test_page_of_what_must_be_trained(results, write_cells):
    both = {"exact": 0.5, "nearest": 0.6}
    found = {"phases": {"1": both, "2": both}, "trained for codes": both}
    found |= {way: both for way in llc_separability.TRAINED}
    linear = ("linear on its features", "linear on the classifier's features")
    found |= dict.fromkeys((*linear, "classifier"), 0.7)
    cell = {"data": "caltech101", "bits": 14, "method": "LLC"}
    cells = [({**cell, "seed": seed}, found) for seed in range(2)]
    write_cells(results / "llc_separability.jsonl", cells)
    _llc_separability_page.write()
    page = (results / "llc_separability.md").read_text("utf-8")
    row = "| classifier's network, trained: projection | .500 ± .000 | .600 ± .000 |"
    assert row in page


def test_curves_of_other_settings_are_not_drawn(monkeypatch):
    drawn = {}
    monkeypatch.setattr(
        _posterior_page, "line_plot", lambda _, curves, **__: drawn.update(curves)
    )
    settings = {"variant": "", "weight": None, "rate": 0.003}
    cell = {"data": "caltech101", "head": "linear", "bits": 32, "control": ""}
    made = {"cell": {**cell, "method": "csq", "seed": 0}, "figures": settings}
    other = {"cell": {**made["cell"], "method": "hashnet"}, "figures": settings}
    curves = {**settings, "map": [0.1, 0.5]}
    epochs = [
        {"cell": {**made["cell"], "seed": 1000}, "figures": curves},
        {"cell": {**other["cell"], "seed": 1000}, "figures": {**curves, "rate": 0.1}},
    ]
    cells, epochs = map(_posterior_page.labelled, ([made, other], epochs))
    list(_posterior_page.convergence(cells, epochs, "caltech101", "linear"))
    assert set(drawn) == {"csq"}


def test_codes_are_placed_on_a_plane(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(12), 10)
    X = (rng.normal(size=(120, 16)) + 4 * np.eye(12, 16)[y]).astype(np.float32)
    rows = np.arange(120)
    problem = HashProblem(X, y, rows[rows % 2 > 0], rows[:9], rows[rows % 2 == 0], None)
    monkeypatch.setattr(posterior_map, "load_problem", lambda *_: problem)
    monkeypatch.setattr(
        posterior_map, "settings", lambda *_: posterior_control.Settings("", 0.3, 1e-3)
    )
    monkeypatch.setattr(posterior_map, "best_epoch", lambda *_: (2, 0.5))
    asked = {"data": "any", "method": "hashnet", "control": ""}
    found = posterior_map.figures(**asked)
    assert found["epochs"] == 2
    assert not posterior_map.superseded(found, **asked)
    assert posterior_map.superseded({**found, "rate": 1e-2}, **asked)
    assert set(found["labels"]) == set(range(10))
    assert np.shape(found["points"]) == (50, 2)


def test_items_of_several_labels_have_no_colour(monkeypatch, results):
    X, labels, rows = np.zeros((4, 2), np.float32), np.eye(4), np.arange(4)
    problem = HashProblem(X, labels, rows, rows, rows, None)
    monkeypatch.setattr(posterior_map, "load_problem", lambda *_: problem)
    with pytest.raises(SystemExit, match="items of words have several labels"):
        posterior_map.main(["words"])


@pytest.mark.parametrize("head", ["linear", "mlp", "mlp with dropout"])
def test_public_code_stands_beside_ours_where_it_was_run(head):
    found = {"map": 0.9, "held_out": 0.8}
    cell = {"method": "csq", "bits": 32, "seed": 0, "control": ""}
    cells = [{"cell": cell, "figures": found}]
    parts = list(_posterior_peers.beside_public_code(cells, [], "caltech101", head))
    theirs, best = {"l": (".733", ".746"), "m": (".843", ".864")}[head[0]]
    assert f"{theirs} / .900" in parts[1]
    assert f"{best} / .900 (csq)" in parts[1]
    assert not list(_posterior_peers.beside_public_code(cells, [], "any", head))


def test_the_best_is_what_ranks_unseen_items_best():
    def cells(**figures):
        cell = {"bits": 32, "control": ""}
        for method, seed in (("csq", 0), ("dch", 0)):
            found = {key: value[method] for key, value in figures.items()}
            yield {"cell": {**cell, "method": method, "seed": seed}, "figures": found}

    measured = list(cells(map={"csq": 0.91, "dch": 0.89}, aside={"csq": 1, "dch": 2}))
    epochs = list(cells(unseen={"csq": 0.6, "dch": 0.5}))
    shown = _posterior_peers.beside_public_code(
        measured, epochs, "caltech101", "linear with decay"
    )
    assert ".746 / .910 (csq)" in list(shown)[1]
    shown = _posterior_peers.beside_public_code(
        measured, epochs[:1], "caltech101", "linear with decay"
    )
    assert ".746 / .890 (dch)" in list(shown)[1]  # where not all were measured


def test_unseen_items_rank_one_another():
    y = np.repeat(np.arange(3), 8)
    X = np.eye(3, 6)[y].astype(np.float32) + 0.01 * np.arange(6, dtype=np.float32)
    learner = posterior_control.make(
        "csq", "", posterior_control.Settings("", None, 1e-2), "linear with decay", 8, 0
    )
    learner.set_params(training__max_epochs=20, training__validation=0.5).fit(X, y)
    train = np.arange(8, 32)  # what comes before is never trained on
    nothing, other = np.full((8, 6), np.nan, np.float32), np.zeros(8, int)
    all_X, all_y = np.concatenate([nothing, X]), np.concatenate([other, y])
    problem = HashProblem(all_X, all_y, train, train, train, None)
    assert posterior_control.unseen(learner, problem) == pytest.approx(1)
    mixed = replace(problem, labels=np.concatenate([other, np.tile(np.arange(3), 8)]))
    assert posterior_control.unseen(learner, mixed) < 0.7


def test_epochs_for_what_is_new_are_those_that_rank_it_best(results, monkeypatch):
    chosen = posterior_control.Settings("", None, 1e-3)
    monkeypatch.setattr(posterior_control, "settings", lambda *_: chosen)
    asked = []

    def measured(data, head, bits, method, control, epochs, seed):
        asked.append((epochs, seed))
        best = {5: 0.6, 10: 0.5, 20: 0.4}[epochs]
        return {**chosen._asdict(), "unseen": best + 0.1 * (seed % 2)}

    monkeypatch.setattr(posterior_control, "unseen_figures", measured)
    found = posterior_control.best_epoch("cifar10", "linear", 16, "csq", "")
    assert found == (5, pytest.approx(0.65))
    assert sorted(asked) == [(n, seed) for n in (5, 10, 20) for seed in (1000, 1001)]
    values = {5: 0.1, 10: 0.2, 20: 0.3, 40: 0.2, 80: 0.1}
    monkeypatch.setattr(
        llc_retrieval,
        "unseen_figures",
        lambda data, method, rate, bits, epochs, seed: {
            "unseen": values[epochs] - abs(rate - 3e-3)
        },
    )
    monkeypatch.setattr(llc_retrieval, "bits_to_choose_at", lambda *_: 32)
    assert llc_retrieval.settled("cifar10", "LLC", 32) == (3e-3, 20)
    values |= {10: 0.5}
    assert llc_retrieval.settled("cifar10", "LLC", 16) == (3e-3, 10)  # of its own
    assert llc_retrieval.settled("cifar10", "LLC", 32) == (3e-3, 20)
    assert llc_retrieval.settled("any", llc_retrieval.REAL, 32) == (3e-3, 10)


def test_a_frozen_surrogate_is_trained_as_long_as_a_trained_one(results, monkeypatch):
    chosen = posterior_control.Settings("", 0.1, 1e-3)
    monkeypatch.setattr(posterior_control, "settings", lambda *_: chosen)
    curves = {"D": [0.1, 0.5, 0.2], "frozen": [0.3, 0.4, 0.9]}
    monkeypatch.setattr(
        posterior_control, "curves", lambda *made: [{"map": curves[made[-1]]}]
    )
    monkeypatch.setattr(posterior_control, "smooth", np.asarray)
    found = posterior_control.best_epoch("any", "linear", 16, "csq", "frozen")
    assert found == (2, pytest.approx(0.4))
    unseen = {"D": {5: 0.6, 10: 0.5, 20: 0.4}, "frozen": {5: 0.1, 10: 0.2, 20: 0.9}}
    monkeypatch.setattr(
        posterior_control,
        "unseen_figures",
        lambda data, head, bits, method, control, epochs, seed: {
            **chosen._asdict(),
            "unseen": unseen[control][epochs],
        },
    )
    found = posterior_control.best_epoch("cifar10", "linear", 16, "csq", "frozen")
    assert found == (5, pytest.approx(0.1))


def test_items_kept_aside_rank_one_another_half_and_half(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 40)
    X = (np.eye(4, 8)[y] * 4 + rng.normal(size=(160, 8))).astype(np.float32)
    rows = np.arange(160)
    problem = HashProblem(X, y, rows[::2], rows[1::2], rows[1::2], None)
    monkeypatch.setattr(llc_retrieval, "choice_problem", lambda *_: problem)
    for method in ("LLC", llc_retrieval.REAL):
        found = llc_retrieval.unseen_figures("any", method, 1e-2, 32, 2, 0)
        assert 0.5 < found["unseen"] <= 1
