"""The study of posterior control chooses, derives and trains."""

import numpy as np
import pytest
import torch

from fewbits.learners.deep.losses import LOSSES
from research.common.problems import load_problem
from research.common.resnet import Augment, resnet
from research.core.record import Record
from research.studies.lower_bound import controls, nets, toy, views
from research.studies.lower_bound.grid import for_claims
from research.studies.lower_bound.nets import Chosen, Net


def finish(choice):
    """Return what a choice returns, when nothing has to be measured."""
    with pytest.raises(StopIteration) as stopped:
        next(choice)
    return stopped.value.value


@pytest.mark.parametrize(
    ("best_weight", "weight"), [(-1.1, 0.1), (-2.1, 0.01), (0.4, 3.0), (9.0, 300.0)]
)
def test_variant_then_weight_then_rate_are_chosen(monkeypatch, best_weight, weight):
    def held_out(net, given):
        quality = (given.variant == "eta 1") - abs(np.log10(given.rate) + 3)
        if net.control:
            quality -= abs(np.log10(given.weight) - best_weight)
            quality -= abs(np.log10(given.rate) + 2.5) - abs(np.log10(given.rate) + 3)
        return quality
        yield

    monkeypatch.setattr(nets, "_held_out", held_out)
    net = Net("any", "linear", 16, "dsdh")
    assert finish(nets.choose(net)) == ("eta 1", None, 1e-3)
    for control in ("D", "frozen"):  # which has D's
        net = Net("any", "linear", 16, "dsdh", control)
        assert finish(nets.choose(net)) == ("eta 1", weight, 3e-3)
    decayed = Net("any", "linear with decay", 16, "csq")
    assert finish(nets.choose(decayed)).rate == 1e-3


def test_a_frozen_surrogate_is_trained_as_long_as_d(monkeypatch):
    curves = {
        "D": np.r_[np.zeros(20), np.ones(9), np.zeros(71)],
        "frozen": np.ones(100),
    }

    def every_epoch(net, choice):
        return [curves[net.control]]
        yield

    monkeypatch.setattr(nets, "every_epoch", every_epoch)
    found = [
        finish(
            nets.best_epoch(Net("any", "linear", 16, "csq", control), Chosen("", 1, 1))
        )
        for control in curves
    ]
    assert found == [(25, 1.0), (25, 1.0)]


@pytest.mark.parametrize("loss", nets.VARIANTS)
def test_every_variant_is_a_loss(loss):
    for variant in nets.VARIANTS[loss]:
        learner = Net("any", "mlp", 16, loss).learner(Chosen(variant, None, 1e-3), 0)
        assert isinstance(learner.loss, LOSSES[loss])
        assert learner.network.hidden == (1024,)


def ranked(control, loss, value):
    settings = {"data": "x", "head": "linear", "bits": 16, "method": loss}
    metrics = {"map": value, "bound": value, "accuracy": 0.5}
    return Record("ranking", {**settings, "control": control}, 0, metrics)


def test_means_over_the_six_losses_leave_orthohash_out():
    records = [ranked(c, loss, 0.5) for c in ("", "D") for loss in LOSSES]
    records[-1] = ranked("D", "orthohash", 0.85)
    found = {each.settings.get("control"): each for each in for_claims(records)[14:]}
    assert found["D"].metrics == {"six": 0.5}
    assert found[""].metrics == {"six": 0.5}
    assert found[None].metrics == {"rho": 1.0}  # over networks
    lacking = [each for each in records if each.settings["method"] != "csq"]
    assert not [each for each in for_claims(lacking) if each.part == "mean"]


@pytest.mark.parametrize(
    "control", ["centres, learnt temperature", "D, blocks of 2", *controls.VIEWS]
)
def test_controls_in_place_of_a_loss(monkeypatch, control):
    monkeypatch.setattr(controls, "MAX_EPOCHS", 2)
    at = {"data": "digits", "bits": 16, "method": controls.ALONE, "control": control}
    found = controls.rank({**at, "seed": 0, "rate": 1e-3, "weight": 1.0})
    assert 0 < found["map"] <= 1


@pytest.mark.parametrize("kind", [views.LearnsOtherView, views.DrawnToOtherView])
def test_another_view_is_the_same_network_under_another_mask(kind):
    found = {}

    class Spy(kind):
        def forward(self, scores, batch):
            terms = super().forward(scores, batch)
            for name in ("other", "centre"):
                wanted = self.codes[batch.classes] if name == "centre" else self.other
                values = self._values(self._blocks(wanted))[..., None]
                log_p = self.surrogate(self._blocks(scores)).gather(2, values)
                found[name] = -log_p.sum(dim=0).mean().detach()
            found.update(terms._asdict(), scores=scores.detach(), view=self.other)
            return terms

    learner = views.TwoViews(
        16, control=Spy(mode="replace", dropout=0.0), random_state=0
    ).set_params(
        training__max_epochs=1,
        training__validation=0,
        network__hidden=(64,),
        network__dropout=0.5,
    )
    load_problem("digits", 0).learn(learner)
    both = torch.stack([found["scores"], found["view"]]).flatten(1)
    assert 0.3 < torch.corrcoef(both)[0, 1] < 0.99
    drawn = kind is views.DrawnToOtherView
    torch.testing.assert_close(found["codes"], found["other" if drawn else "centre"])
    if not drawn:
        torch.testing.assert_close(found["networks"], found["other"])


def test_blocks_of_one_bit_are_marginals():
    values = np.array([0b0000_0001, 0b0000_0011, 0b0000_0000, 0b1000_0001])
    joint = toy.joint(toy.histograms(values, 1))
    assert joint.sum() == pytest.approx(1)
    # Three of four have bit 0, one has bit 1, one bit 7; half a sample is added.
    expected = 0.7 * 0.3 * 0.9**5 * 0.7
    assert joint[0b0000_0011] == pytest.approx(expected)


def test_crops_and_mirrors():
    torch.manual_seed(0)
    ramp = torch.arange(64.0).view(1, 1, 8, 8).expand(1000, 3, 8, 8)
    augment = Augment(2)
    seen = augment(ramp)
    slopes = seen[:, 0, 3, 4] - seen[:, 0, 3, 3]
    assert set(slopes.tolist()) == {-1.0, 1.0}
    inner = {tuple(image[0, 2:6, 2:6].flatten().tolist()) for image in seen}
    assert len(inner) == 2 * 5 * 5  # mirrored or not, every shift
    assert (seen[:, 0] == seen[:, 2]).all()  # the same for each channel
    assert augment.eval()(ramp) is ramp


@pytest.mark.parametrize(
    ("blocks", "width", "n_features", "n_parameters"),
    [((2, 2, 2, 2), 64, 512, 11_168_832), ((3, 3, 3), 16, 64, 271_824)],
)
def test_residual_networks_have_the_usual_shapes(
    blocks, width, n_features, n_parameters
):
    network = resnet(blocks, width).eval()
    assert network(torch.zeros(2, 3, 32, 32)).shape == (2, n_features)
    assert sum(p.numel() for p in network.parameters()) == n_parameters
