"""Posterior control: what reaches what, block by block, and the paper's toy."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from torch import nn
from torch.autograd import gradcheck
from torch.nn.functional import log_softmax, silu

from fewbits.errors import ArgumentError
from fewbits.learners.deep import (
    CentreControl,
    DeepHash,
    NetworkConfig,
    PosteriorControl,
    TrainingConfig,
)
from fewbits.learners.deep.losses import LossContext, Targets

B, C = 7, 5
LENGTHS = (1, 7, 8, 9, 20, 64)
#: A single bit parts five classes into two.
pytestmark = pytest.mark.filterwarnings("ignore:.*have the code of another")
every_length = pytest.mark.parametrize("n_bits", LENGTHS)
every_kind = pytest.mark.parametrize("several", [False, True])


def batch_of(several):
    """Return a batch; of several labels, one item has none and one has all."""
    if not several:
        return Targets(torch.arange(B) % C, C)[torch.arange(B)]
    Y = (torch.rand(B, C, generator=torch.Generator().manual_seed(1)) < 0.5).float()
    Y[0], Y[1] = 0, 1
    return Targets(Y, C)[torch.arange(B)]


def started(n_bits, several=False, **options):
    """Return a control in double precision, scores and a batch."""
    torch.manual_seed(0)
    batch = batch_of(several)
    codes = 2 * torch.randint(2, (C, n_bits)).numpy() - 1
    control = PosteriorControl(codes, **{"n_hidden": 16, **options})
    targets = Targets(batch.labels if several else batch.classes, C)
    control.start(LossContext(n_bits, targets, 3))
    control.double()
    return control, torch.randn(B, n_bits, dtype=torch.float64), batch


def literal(control, scores, batch, *, constant, units=None):
    """Return both terms by loops over blocks and items."""
    surrogate = control.surrogate
    W1, b1, W2, scale = units or surrogate.units()
    weights = [w.detach() if constant else w for w in (W1, b1, W2, surrogate.b2)]
    codes = own = 0.0
    for k, places in enumerate(control.places.tolist()):
        bits = [place for place in places if place < scores.shape[1]]
        w1, c1, w2, c2 = (w[k] for w in weights)
        for i in range(B):
            x = scores[i, bits]
            hidden = scale * silu(w1[:, : len(bits)] @ x + c1)
            log_p = log_softmax((hidden @ w2 + c2[0])[: 2 ** len(bits)], dim=0)
            own = own - log_p[index(scores[i, bits] >= 0)]
            for c in batch.labels[i].nonzero().ravel().tolist():
                codes = codes - log_p[index(control.codes[c, bits] > 0)]
    return codes / B, own / B


def index(bits):
    return sum(2**k for k, bit in enumerate(bits.tolist()) if bit)


class TestBlocks:
    @every_length
    def test_as_few_as_do_and_nearly_equal(self, n_bits):
        control, *_ = started(n_bits)
        sizes = (control.places < n_bits).sum(dim=1)
        assert len(sizes) == -(-n_bits // 8)
        assert sizes.max() - sizes.min() <= 1
        real = control.places[control.places < n_bits]
        assert real.tolist() == list(range(n_bits))

    @every_length
    def test_probabilities(self, n_bits):
        control, scores, _ = started(n_bits, dropout=0.0)
        p = control.log_posterior(scores).exp()
        n_blocks = -(-n_bits // 8)
        assert p.shape == (B, n_blocks, 2 ** -(-n_bits // n_blocks))
        torch.testing.assert_close(p.sum(dim=2), torch.ones_like(p[..., 0]))
        last = (control.places[-1] < n_bits).sum()
        assert (p[:, -1, 2**last :] == 0).all()

    def test_score_of_0_is_a_1(self):
        control, scores, batch = started(8, dropout=0.0)
        terms = [control(x, batch).networks for x in (0 * scores, 0 * scores + 1e-300)]
        assert torch.equal(*terms)


class TestTerms:
    """One pass, against two plain passes with constants in the right places."""

    @pytest.mark.parametrize("n_bits", [1, 9, 20])
    @every_kind
    @pytest.mark.parametrize("dropout", [0.0, 0.5])
    def test_values_and_gradients(self, n_bits, several, dropout):
        control, scores, batch = started(n_bits, several, dropout=dropout)
        one, two = (scores.clone().requires_grad_() for _ in range(2))
        torch.manual_seed(5)
        codes, own = control(one, batch)
        (0.7 * codes + 1.3 * own).backward()
        found = [p.grad.clone() for p in control.parameters()]
        control.zero_grad()
        torch.manual_seed(5)
        units = control.surrogate.units()
        expected, _ = literal(control, two, batch, constant=True, units=units)
        _, taught = literal(control, two.detach(), batch, constant=False, units=units)
        torch.testing.assert_close((codes, own), (expected, taught))
        (0.7 * expected + 1.3 * taught).backward()
        torch.testing.assert_close(one.grad, two.grad)
        torch.testing.assert_close(found, [p.grad for p in control.parameters()])

    @every_kind
    def test_gradcheck(self, several):
        control, scores, batch = started(9, several, dropout=0.0)
        assert gradcheck(
            lambda x: control(x, batch).codes, scores.clone().requires_grad_()
        )
        parameters = [p.detach().clone() for p in control.parameters()]
        names = [name for name, _ in control.named_parameters()]

        def own(*values):
            given = dict(zip(names, values, strict=True))
            return torch.func.functional_call(control, given, (scores, batch)).networks

        values = [p.requires_grad_() for p in parameters]
        assert gradcheck(own, values, fast_mode=True)

    @every_kind
    def test_only_a_term_of_its_own_reaches_a_part(self, several):
        control, scores, batch = started(20, several)
        scores.requires_grad_()
        control(scores, batch).networks.backward()
        assert scores.grad is None or not scores.grad.any()
        assert all(p.grad.any() for p in control.parameters())
        control.zero_grad()
        control(scores, batch).codes.backward()
        assert scores.grad.any()
        assert not any(
            p.grad is not None and p.grad.any() for p in control.parameters()
        )

    def test_evaluation_drops_and_teaches_nothing(self):
        control, scores, batch = started(20)
        control.eval()
        codes, own = control(scores, batch)
        assert own == 0
        torch.testing.assert_close(
            codes, literal(control, scores, batch, constant=True)[0]
        )

    @pytest.mark.parametrize("scale", [0.0, 1e-20, 1e4], ids=["zero", "tiny", "large"])
    @every_kind
    @pytest.mark.parametrize("n_bits", [7, 20])
    def test_safe(self, scale, several, n_bits):
        control, scores, batch = started(n_bits, several)
        control.float()
        scores = (scale * scores.sign()).float().requires_grad_()
        codes, own = control(scores, batch)
        (codes + own).backward()
        assert torch.isfinite(codes + own)
        assert torch.isfinite(scores.grad).all()
        assert all(torch.isfinite(p.grad).all() for p in control.parameters())

    def test_a_batch_without_labels_and_a_class_alone(self):
        control, scores, _ = started(8)
        unlabelled = Targets(torch.zeros(B, C), C)[torch.arange(B)]
        terms = control(scores, unlabelled)
        assert terms.codes == 0
        assert terms.networks > 0
        alone = PosteriorControl()
        alone.start(LossContext(8, Targets(torch.zeros(B).long(), 1), 0))
        batch = Targets(torch.zeros(B).long(), 1)[torch.arange(B)]
        assert torch.isfinite(alone(scores.float(), batch).codes)


class TestDropout:
    def networks(self, dropout):
        """Return those of blocks of 3 and 2 bits, with 10 units each."""
        control, *_ = started(5, block=3, n_hidden=10, dropout=dropout)
        return control.surrogate.float()

    def test_a_share_of_each_block_is_kept(self):
        networks = self.networks(0.3)
        counts = torch.zeros(2, 10)
        for _ in range(50):
            units = networks.units()
            assert units.W1.shape == (2, 7, 3)
            assert units.scale == 10 / 7
            for k in range(2):
                place = (networks.b1[k] == units.b1[k][:, None]).nonzero()[:, 1]
                assert len(set(place.tolist())) == 7
                assert torch.equal(units.W1[k], networks.W1[k, place])
                assert torch.equal(units.W2[k], networks.W2[k, place])
                counts[k, place] += 1
        assert ((counts > 20) & (counts < 50)).all()

    def test_none_is_dropped_without_it_or_in_evaluation(self):
        networks = self.networks(0.0)
        assert networks.units().W1 is networks.W1
        assert self.networks(0.5).eval().units().scale == 1

    def test_weights_are_those_of_linear_layers(self):
        control, *_ = started(32, n_hidden=256)
        networks = control.surrogate
        for ours, linear in (
            ((networks.W1, networks.b1), nn.Linear(8, 256)),
            ((networks.W2, networks.b2), nn.Linear(256, 256)),
        ):
            bound = linear.in_features**-0.5
            for p in (*ours, linear.weight, linear.bias):
                assert p.abs().max().item() == pytest.approx(bound, rel=0.02)
                assert p.std().item() == pytest.approx(bound / 3**0.5, rel=0.1)


class TestBeside:
    """A control beside a loss, or in its place."""

    @pytest.mark.parametrize("kind", [PosteriorControl, CentreControl])
    def test_add_and_replace(self, kind):
        """In the first step, of all items, the losses are of the same scores."""
        y = np.arange(40) % 4
        X = np.random.default_rng(0).normal(size=(40, 6)).astype(np.float32)
        training = TrainingConfig(max_epochs=1, validation=0, batch_size=40)
        options = {"network": NetworkConfig(hidden=()), "training": training}

        def value(control):
            learner = DeepHash(16, control=control, random_state=0, **options)
            return learner.fit(X, y).objective_[0]

        own, whole, part = (value(kind(weight=w, mode="replace")) for w in (0, 1, 0.3))
        assert part == pytest.approx(own + 0.3 * (whole - own), rel=1e-5)
        both = value(kind(weight=0.3, mode="add"))
        assert both == pytest.approx(part + value(None), rel=1e-5)

    @every_kind
    def test_plain_targets(self, several):
        """Cross-entropy of each bit with the item's centres, summed over bits."""
        batch = batch_of(several)
        codes = 2 * np.random.default_rng(0).integers(2, size=(C, 6)) - 1
        control = CentreControl(codes)
        control.start(LossContext(6, Targets(torch.arange(C), C), 0))
        u = torch.randn(B, 6)
        expected = 0.0
        for i in range(B):
            own = (codes[batch.labels[i].numpy() > 0] + 1) / 2
            p = (np.tanh(u[i].numpy()) + 1) / 2
            each = -np.sum(own * np.log(p) + (1 - own) * np.log(1 - p), axis=1)
            expected += each.sum() / B
        terms = control(u, batch)
        assert terms.codes.item() == pytest.approx(expected, rel=1e-5)
        assert terms.networks == 0

    @pytest.mark.parametrize("several", [False, True])
    def test_restored_copied_and_started_again(self, several):
        control, scores, batch = started(20, several)
        control(scores, batch).networks.backward()
        with torch.no_grad():
            for p in control.parameters():
                p -= 0.1 * p.grad
        again, *_ = started(20, several)
        again.load_state_dict(control.state_dict())
        copied = deepcopy(control)
        for each in (control, again, copied):
            each.eval()
        expected = control(scores, batch).codes
        assert torch.equal(again(scores, batch).codes, expected)
        assert torch.equal(copied(scores, batch).codes, expected)
        control.train()
        control.start(
            LossContext(20, Targets(batch.labels if several else batch.classes, C), 3)
        )
        new, *_ = started(20, several)
        state = new.state_dict()
        assert control.state_dict().keys() == state.keys()
        for name, value in control.state_dict().items():
            assert torch.equal(value.to(state[name].dtype), state[name])

    def test_moved(self):
        control, scores, _ = started(20)
        control.to("meta")
        classes = torch.arange(B, device="meta")
        batch = Targets(classes, C)[classes]
        terms = control(scores.to("meta"), batch)
        assert terms.codes.shape == terms.networks.shape == ()

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                {"mode": "instead"},
                "mode must be",
            ),
            ({"weight": -1.0}, "weight must be"),
            ({"weight": float("nan")}, "weight must be"),
            ({"weight": float("inf")}, "weight must be"),
            ({"block": 0}, "block must be"),
            ({"block": 16}, "block must be"),
            ({"n_hidden": 0}, "n_hidden must be"),
            ({"dropout": 1.0}, "dropout must be"),
        ],
    )
    def test_bad_options(self, options, message):
        with pytest.raises(ArgumentError, match=message):
            PosteriorControl(**options)

    def test_options_are_shown(self):
        assert repr(CentreControl()) == "CentreControl()"
        control = PosteriorControl(np.ones((2, 8)), weight=0.1, mode="replace")
        shown = "PosteriorControl(centres=array, weight=0.1, mode='replace')"
        assert repr(control) == shown

    def test_bad_centres(self):
        context = LossContext(8, Targets(torch.arange(3), 3), 0)
        with pytest.raises(ArgumentError, match="codes must be -1 and 1"):
            PosteriorControl(np.zeros((3, 8))).start(context)
        with pytest.raises(ArgumentError, match="300 classes need at least 9 bits"):
            PosteriorControl().start(LossContext(8, Targets(torch.arange(300), 300), 0))


def test_toy_of_the_paper():
    """It estimates an 8-bit multivariate Bernoulli distribution; a product does not.

    Joint probabilities are the softmax of 256 numbers from N(0, 1), 10,000 samples are
    learnt from, and the estimate is the mean of what the network says of them. The
    floor of 10,000 samples is 0.0128.
    """
    rng = np.random.default_rng(0)
    p = np.exp(rng.normal(size=256))
    p /= p.sum()
    bits = rng.choice(256, 10_000, p=p)[:, None] >> np.arange(8) & 1
    marginals = bits.mean(axis=0)
    every = np.arange(256)[:, None] >> np.arange(8) & 1
    naive = np.where(every, marginals, 1 - marginals).prod(axis=1)
    x = torch.from_numpy(2.0 * bits - 1).float()
    targets = Targets(torch.zeros(len(x)).long(), 1)
    control = PosteriorControl(n_hidden=64, dropout=0.0)
    control.start(LossContext(8, targets, 0))
    optimizer = torch.optim.Adam(control.parameters(), 1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 300)
    order = torch.Generator().manual_seed(0)
    for _ in range(300):
        rows = torch.randint(len(x), (500,), generator=order)
        loss = control(x[rows], targets[rows]).networks
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    with torch.inference_mode():
        estimate = control.log_posterior(x)[:, 0].exp().double().mean(dim=0).numpy()
    divergence, other = (np.sum(p * np.log(p / q)) for q in (estimate, naive))
    assert divergence < 0.02
    assert divergence < other / 20
