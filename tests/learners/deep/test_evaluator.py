"""held-out items: never trained on, and what an epoch is judged by."""

import numpy as np
import pytest
import torch
from torch import nn

from fewbits.errors import ArgumentError
from fewbits.evaluation import mean_average_precision, same_label
from fewbits.learners.deep import LLC, DeepHash
from fewbits.learners.deep.losses import HashNet
from tests.learners._made import made

y = np.repeat(np.arange(4), 30)
rng = np.random.default_rng(0)
X = (np.eye(4, 8)[y] * 2 + rng.normal(size=(120, 8))).astype(np.float32)
X[:, 7] = np.arange(120)  # tells which items are seen
Y = np.eye(4, dtype=int)[y]
Y[::3, 0] = 1


class Recorded(nn.Module):
    """Remembers which items are trained on, and hides their numbers."""

    def __init__(self, seen):
        super().__init__()
        self.seen = seen

    def forward(self, items):
        if self.training:
            self.seen.append(items[:, 7].long())
        return items[:, :7]


def recording_loss(seen):
    class Recording(HashNet):
        def forward(self, scores, batch):
            if self.training:
                seen.append((batch.rows, batch.labels))
            return super().forward(scores, batch)

    return Recording()


def fit(labels, **options):
    options = {"max_epochs": 2, "validation": 0.3, "random_state": 0} | options
    return made(DeepHash, 8, **options).fit(X, labels)


@pytest.mark.parametrize("labels", [y, Y], ids=["single", "several"])
def test_held_out_items_reach_neither_network_nor_loss(labels):
    items, batches = [], []
    fitted = fit(labels, backbone=Recorded(items), loss=recording_loss(batches))
    rest = np.setdiff1d(np.arange(120), fitted.held_out_)
    assert len(fitted.held_out_) == 36
    seen = torch.cat(items).cpu().numpy()
    assert np.array_equal(np.unique(seen), rest)
    rows, given = (torch.cat(each).cpu() for each in zip(*batches, strict=True))
    assert np.array_equal(rest[rows], seen)
    assert np.array_equal(given, Y[seen] if labels is Y else np.eye(4)[y[seen]])


@pytest.mark.parametrize("labels", [y, Y], ids=["single", "several"])
def test_map_is_that_of_held_out_items_among_the_others(labels):
    fitted = fit(labels, max_epochs=1)
    held_out = fitted.held_out_
    rest = np.setdiff1d(np.arange(120), held_out)
    codes = fitted.encode(X)
    relevant = same_label(labels[held_out], labels[rest])
    expected = mean_average_precision(codes[held_out], codes[rest], relevant).value
    assert fitted.history_[0]["map"] == pytest.approx(expected, abs=1e-6)


def held_out_of(labels, share):
    """Return the rows that a fit holds out."""
    features = rng.normal(size=(len(labels), 4)).astype(np.float32)
    options = {"max_epochs": 1, "eval_every": 0, "hidden": (), "random_state": 0}
    learner = made(DeepHash, 8, validation=share, **options)
    return learner.fit(features, labels).held_out_


@pytest.mark.parametrize("share", [0, 0.2, 0.9])
def test_every_label_is_trained_on(share):
    labels = (rng.random((200, 29)) < 0.03).astype(int)
    labels[:29] |= np.eye(29, dtype=int)
    held_out = held_out_of(labels, share)
    train = np.setdiff1d(np.arange(200), held_out)
    assert labels[train].any(axis=0).all()
    labelled = labels.any(axis=1)
    assert not labelled.all()
    assert labelled[held_out].all()  # others have no place in a ranking
    assert 0 <= round(share * labelled.sum()) - len(held_out) <= 29


def test_most_items_may_have_no_label():
    some = np.where(np.arange(120)[:, None] < 30, Y, 0)
    some[:4] = np.eye(4)
    fitted = fit(some, max_epochs=1)
    assert len(fitted.held_out_)
    assert some[fitted.held_out_].any(axis=1).all()
    assert np.isfinite(fitted.history_[0]["map"])


def test_held_out_items_rank_one_another():
    """Where those of a class are all alike, it does not matter which are in a half."""
    alike = np.repeat(np.random.default_rng(1).normal(size=(12, 8)), 10, axis=0)
    labels = np.repeat(np.arange(12), 10)
    options = {"max_epochs": 1, "validation": 0.4, "random_state": 0, "hidden": ()}
    rate = {"learning_rate": 1e-6}  # or all classes would get codes of their own
    fitted, plain = (
        made(DeepHash, 4, **options, **rate, validation_base=base).fit(alike, labels)
        for base in ("held_out", "trained")
    )
    half = fitted.held_out_[::2]  # two of four of each class
    assert np.array_equal(np.bincount(labels[half]), np.full(12, 2))
    codes, relevant = fitted.encode(alike[half]), same_label(labels[half], labels[half])
    expected = mean_average_precision(codes, codes, relevant).value
    assert fitted.history_[0]["map"] == pytest.approx(expected)
    assert plain.history_[0]["map"] != pytest.approx(expected)


@pytest.mark.parametrize("labels", [y, Y], ids=["single", "several"])
def test_another_base_gives_another_figure(labels):
    one, other = (
        fit(labels, validation=0.4, validation_base=base).history_[0]["map"]
        for base in ("held_out", "trained")
    )
    assert one != other
    assert 0 < one < 1


def test_too_few_held_out_to_rank_one_another():
    alone = np.arange(120) % 60  # two of each class, one of them held out
    with pytest.raises(ArgumentError, match="two halves of 60 share no label"):
        fit(alone, validation=0.5, validation_base="held_out")
    with pytest.raises(ArgumentError, match=r"held_out' .* is none of 2: 0.5 would do"):
        fit(alone, validation=0.1, validation_base="held_out")
    with pytest.raises(ArgumentError, match="needs held-out items"):
        fit(y, validation=0, validation_base="held_out")
    with pytest.raises(ArgumentError, match=r"training.validation_base must be"):
        fit(y, validation_base="queries")


def test_codes_are_evaluated_as_often_as_asked():
    fitted = fit(y, max_epochs=8, eval_every=3)
    evaluated = [record["epoch"] for record in fitted.history_ if "map" in record]
    assert evaluated == [3, 6, 8]
    assert ["bound" in record for record in fitted.history_] == [
        "map" in record for record in fitted.history_
    ]
    never = fit(y, max_epochs=4, eval_every=0)
    assert not any("map" in record for record in never.history_)
    for options in ({"refit": True}, {"validation_base": "held_out"}):
        with pytest.raises(
            ArgumentError, match=r"needs metrics, but training.eval_every=0"
        ):
            fit(y, eval_every=0, **options)


def test_refit_takes_the_number_of_an_epoch_that_was_evaluated():
    chosen = fit(y, max_epochs=12, eval_every=5)
    again = fit(y, max_epochs=12, eval_every=5, refit=True)
    seen = {r["epoch"]: r["map"] for r in chosen.history_ if "map" in r}
    assert list(seen) == [5, 10, 12]
    best = int(max(seen, key=seen.get))  # one look is as wide as five epochs
    alone = fit(y, max_epochs=best, validation=0)
    assert again.n_epochs_ == 12
    assert np.array_equal(again.encode(X), alone.encode(X))


def test_looking_changes_no_step():
    every, some = fit(y, max_epochs=6), fit(y, max_epochs=6, eval_every=2)
    assert [r["loss"] for r in every.history_] == [r["loss"] for r in some.history_]
    seen = {r["epoch"]: r["map"] for r in some.history_ if "map" in r}
    assert seen == {r["epoch"]: r["map"] for r in every.history_ if r["epoch"] in seen}
    best = max(seen, key=seen.get)  # is kept: the first of equals
    codes = fit(y, max_epochs=6, eval_every=2).encode(X)
    held_out = some.held_out_
    rest = np.setdiff1d(np.arange(120), held_out)
    relevant = same_label(y[held_out], y[rest])
    kept = mean_average_precision(codes[held_out], codes[rest], relevant).value
    assert kept == pytest.approx(seen[best], abs=1e-6)


def test_only_what_a_label_needs_goes_back():
    labels = np.tile([[1, 0, 0], [1, 1, 0]], (6, 1))
    drawn = held_out_of(labels[:, :2], 0.5)
    labels[drawn[:3], 2] = 1  # a label of three items, all of them held out
    held_out = held_out_of(labels, 0.5)
    assert len(held_out) == len(drawn) - 1
    assert np.isin(held_out, drawn).all()


@pytest.mark.parametrize("options", [{"codebook": "cca"}, {"init": "cca"}])
def test_rare_label_has_a_mean(options):
    labels = np.column_stack([Y, np.zeros(120, int)])
    labels[held_out_of(Y, 0.3)[0], 4] = 1
    llc = made(
        LLC,
        4,
        **options,
        validation=0.3,
        codebook_epochs=1,
        max_epochs=1,
        random_state=0,
    )
    assert len(llc.fit(X, labels).codebook_) == 5
    assert len(llc.held_out_) == 35
