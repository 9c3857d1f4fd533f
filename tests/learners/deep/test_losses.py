"""Each loss against its paper, written out in loops; gradients, extremes and states."""

from copy import deepcopy
from itertools import product
from math import cosh, exp, log, tanh

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck

from fewbits.errors import ArgumentError
from fewbits.learners.deep.losses import (
    CSQ,
    DBDH,
    DCH,
    DSDH,
    LOSSES,
    ClassLoss,
    CodebookLoss,
    CodeLoss,
    GreedyHash,
    HashNet,
    LossContext,
    OrthoHash,
    Targets,
)

N, B, K, C = 30, 8, 6, 4
BOOK = np.array([[1, 1, -1, -1, 1, -1], [-1] * 6, [1] * 6, [1, -1, 1, -1, 1, -1]])
ALL = {
    **LOSSES,
    "dbdh": lambda: DBDH(alpha=0.5, weighted=False),
    "dbdh with weights": lambda: DBDH(alpha=0.1, weighted=True),
    "codebook": lambda: CodebookLoss(nested=(2, 4)),
    "code": lambda: CodeLoss(BOOK),
    "class": ClassLoss,
}
every_loss = pytest.mark.parametrize("name", ALL)
every_kind = pytest.mark.parametrize("kind", ["one label", "several"])


def signs(x):
    return torch.where(x >= 0, 1.0, -1.0).to(x.dtype)


def labels(kind):
    """Return 1 for each label of N items; of several, the last items have none."""
    rng = np.random.default_rng(0)
    if kind == "one label":
        return np.eye(C)[np.concatenate([np.arange(C), rng.integers(C, size=N - C)])]
    Y = (rng.random((N, C)) < 0.4).astype(float)
    Y[-3:] = 0
    return Y


def targets(Y, kind):
    if kind == "one label":
        return Targets(torch.from_numpy(Y.argmax(axis=1)), Y.shape[1])
    return Targets(torch.from_numpy(Y).float(), Y.shape[1])


def problem(name, kind, dtype=torch.float64):
    """Return a loss in its second epoch, scores, their batch, and all labels."""
    torch.manual_seed(0)
    Y = labels(kind)
    made = targets(Y, kind)
    loss = ALL[name]()
    loss.start(LossContext(C if name == "class" else K, made, 0))
    loss.to(dtype)
    scores = torch.randn(N, C if name == "class" else K, dtype=dtype)
    for epoch in range(2):
        loss.start_epoch(epoch, lambda: scores)
    rows = torch.tensor([3, 0, 1, 12, 7, 2, 20, N - 1])
    u = 1.5 * torch.randn(B, scores.shape[1], dtype=dtype)
    return loss, u, made[rows], Y


def softplus(x):
    return log(1 + exp(x))


def pairs(Y, n):
    """Yield pairs of different items, whether they are similar, and their overlap."""
    for i, j in product(range(n), repeat=2):
        if i != j:
            common = Y[i] @ Y[j]
            either = ((Y[i] + Y[j]) > 0).sum()
            yield i, j, int(common > 0), common / max(either, 1)


def weights(Y):
    """Return |S| / |S0| and |S| / |S1| of all training items."""
    similar = [s for _, _, s, _ in pairs(Y, len(Y))]
    return len(similar) / similar.count(0), len(similar) / similar.count(1)


def hashnet(loss, u, Y, everything):
    w, a = weights(everything), 10 / K
    h = [[tanh(loss.beta * x) for x in row] for row in u]
    total = 0.0
    for i, j, s, overlap in pairs(Y, B):
        product_ = a * sum(x * z for x, z in zip(h[i], h[j], strict=True))
        total += w[s] * (overlap if s else 1) * (softplus(product_) - s * product_)
    return total / (B * (B - 1))


def dbdh(loss, u, Y, everything):
    b, w, a = np.where(u >= 0, 1, -1), (1, 1), loss.alpha or 0.5
    if loss.weighted:
        w = weights(everything)
    total = sum(
        w[s] * (softplus(a * b[i] @ b[j]) - s * a * b[i] @ b[j])
        for i, j, s, _ in pairs(Y, B)
    )
    balance = sum(b[:, k].mean() ** 2 for k in range(K)) / K
    return total / (B * (B - 1)) + 0.1 * balance


def dch(loss, u, Y, everything):
    def distance(x, z):
        return K / 2 * (1 - x @ z / np.sqrt(x @ x * (z @ z)))

    h, w, gamma = np.tanh(u), weights(everything), 20.0
    total = 0.0
    for i, j, s, _ in pairs(Y, B):
        d = distance(h[i], h[j])
        total += w[s] * (s * log(d / gamma) + log(1 + gamma / d))
    quantized = sum(log(1 + distance(np.abs(x), np.ones(K)) / gamma) for x in h)
    return total / (B * (B - 1)) + 0.1 * quantized / B


def greedyhash(loss, u, Y, everything):
    logits = np.where(u >= 0, 1, -1) @ loss.layer.weight.detach().numpy().T
    return entropy(logits, Y, everything) + 0.1 * np.mean(np.abs(np.abs(u) - 1) ** 3)


def csq(loss, u, Y, everything):
    centres, tie = loss.codes.numpy(), loss.tie.numpy()
    total = 0.0
    for i, k in product(range(B), range(K)):
        h = tanh(u[i, k])
        total += 1e-4 * log(cosh(abs(h) - 1))
        if Y[i].any():
            votes = sum(centres[c, k] for c in range(C) if Y[i, c])
            centre = np.sign(votes) or tie[k]
            total -= log((h + 1) / 2) if centre > 0 else log((1 - h) / 2)
    return total / (B * K)


def orthohash(loss, u, Y, everything):
    centres = loss.codes.numpy()
    total = 0.0
    for i in range(B):
        cosines = centres @ u[i] / np.sqrt(K * (u[i] @ u[i]))
        logits = 8 * (cosines - 0.2 * Y[i])
        for c in np.flatnonzero(Y[i]):
            total -= log(exp(logits[c]) / np.exp(logits).sum()) / Y[i].sum()
    return total / B


def dsdh(loss, u, Y, everything):
    """Return the loss of a batch; what it is of the whole is tested below."""
    U, bits, rows = (
        loss.U.numpy().copy(),
        loss.B.numpy(),
        [3, 0, 1, 12, 7, 2, 20, N - 1],
    )
    total, n_pairs = 0.0, 0
    for i, j in product(range(B), range(N)):
        if rows[i] != j:
            T = u[i] @ U[j] / 2
            total += softplus(T) - (Y[i] @ everything[j] > 0) * T
            n_pairs += 1
    coupling = sum(((bits[row] - x) ** 2).sum() for row, x in zip(rows, u, strict=True))
    return total / n_pairs + 55 / 2 / (N - 1) * coupling / B


def entropy(logits, Y, everything, smoothing=0.0):
    if (everything.sum(axis=1) == 1).all():
        shares = (1 - smoothing) * Y + smoothing / C
        return -np.mean(
            np.sum(shares * (logits - np.log(np.exp(logits).sum(1))[:, None]), 1)
        )
    p = 1 / (1 + np.exp(-logits))
    return -np.mean(Y * np.log(p) + (1 - Y) * np.log(1 - p))


def codebook(loss, u, Y, everything):
    signs_ = np.where(loss.C.detach().numpy() >= 0, 1, -1)
    lengths = (2, 4, K)
    return np.mean(
        [entropy(u[:, :m] @ signs_[:, :m].T, Y, everything, 0.1) for m in lengths]
    )


def code(loss, u, Y, everything):
    total = 0.0
    for i, k in product(range(B), range(K)):
        own = [(BOOK[c, k] + 1) / 2 for c in range(C) if Y[i, c]]
        p = 1 / (1 + exp(-u[i, k]))
        if own:
            target = np.mean(own)
            total -= target * log(p) + (1 - target) * log(1 - p)
    return total / (B * K)


LITERAL = {
    "hashnet": hashnet,
    "dbdh": dbdh,
    "dbdh with weights": dbdh,
    "dsdh": dsdh,
    "dch": dch,
    "dch of scores": dch,
    "dch with itself": dch,
    "greedyhash": greedyhash,
    "csq": csq,
    "orthohash": orthohash,
    "codebook": codebook,
    "code": code,
    "class": lambda loss, u, Y, everything: entropy(u, Y, everything),
}


@every_loss
@every_kind
def test_value_is_that_of_the_paper(name, kind):
    loss, u, batch, Y = problem(name, kind)
    if name == "dsdh":
        loss.eval()  # scores of the batch would be remembered, and expected here
    expected = LITERAL[name](loss, u.numpy(), Y[batch.rows], Y)
    assert loss(u, batch).item() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "name", [n for n in ALL if n.split()[0] not in ("dbdh", "greedyhash")]
)
@every_kind
def test_gradients(name, kind):
    loss, u, batch, _ = problem(name, kind)
    loss.eval()
    assert gradcheck(lambda scores: loss(scores, batch), u.requires_grad_())


@every_kind
def test_gradients_pass_the_sign(kind):
    """They are those towards the bits; DBDH's end where a score leaves [-1, 1]."""
    for name in ("dbdh", "dbdh with weights", "greedyhash"):
        loss, u, batch, _ = problem(name, kind)
        bits = signs(u).requires_grad_()
        loss(bits, batch).backward()
        expected = bits.grad
        if name != "greedyhash":
            expected = expected * (u.abs() <= 1)
        else:
            excess = u.abs() - 1
            expected = expected + 0.1 * 3 * excess * excess.abs() * u.sign() / u.numel()
        u.requires_grad_()
        loss(u, batch).backward()
        torch.testing.assert_close(u.grad, expected)


def test_a_score_of_zero_is_a_one():
    loss, u, batch, _ = problem("dbdh", "one label")
    zero = u.clone()
    u[0], zero[0] = 1.0, torch.tensor([0.0, -0.0] * (K // 2))
    assert torch.equal(loss(zero, batch), loss(u, batch))


EXTREMES = {
    "zero": lambda u: 0 * u,
    "tiny": lambda u: 1e-20 * u,
    "large": lambda u: 1e4 * signs(u),
    "one large": lambda u: torch.where(torch.arange(B)[:, None] == 0, 1e4, u),
    "one zero": lambda u: torch.where(torch.arange(B)[:, None] == 0, 0.0, u),
    "equal items": lambda u: u[:1].expand_as(u),
    "opposite items": lambda u: u[:1] * signs(u[:, :1]),
    "corners": lambda u: signs(u),
}


@every_loss
@pytest.mark.parametrize("batch", ["one class", "all different", "unlabelled", "mixed"])
def test_safe(name, batch):
    for extreme, make in EXTREMES.items():
        check_safe(name, batch, extreme, make)


def check_safe(name, batch, extreme, make):
    kind = "several" if batch == "unlabelled" else "one label"
    n_classes = {"all different": B, "one class": 1}.get(batch, C)
    Y = np.eye(n_classes)[np.arange(2 * B) % n_classes]
    if batch == "unlabelled":
        Y[::2] = 0
    made = targets(Y, kind)
    loss = ALL[name]() if name != "code" else CodeLoss(np.ones((n_classes, K)))
    loss.start(LossContext(n_classes if name == "class" else K, made, 0))
    torch.manual_seed(0)
    start = torch.randn(B, n_classes if name == "class" else K)
    loss.start_epoch(0, lambda: torch.cat([start, start]))
    u = make(start).clone().requires_grad_()
    value = loss(u, made[torch.arange(B)])
    value.backward()
    assert torch.isfinite(value), extreme
    assert torch.isfinite(u.grad).all(), extreme
    assert u.grad.abs().max() < 1e9, extreme
    assert all(torch.isfinite(p.grad).all() for p in loss.parameters()), extreme


@every_loss
@every_kind
def test_a_batch_of_one(name, kind):
    loss, u, batch, Y = problem(name, kind, torch.float32)
    u = u[:1].requires_grad_()
    value = loss(u, targets(Y, kind)[batch.rows[:1]])
    value.backward()
    assert torch.isfinite(value)
    assert torch.isfinite(u.grad).all()


class TestState:
    """What a checkpoint restores, and what starting again forgets."""

    @every_loss
    @every_kind
    def test_restored(self, name, kind):
        loss, u, batch, Y = problem(name, kind, torch.float32)
        for _ in range(250 if name == "hashnet" else 3):
            loss(u, batch)
        again = ALL[name]()
        again.start(LossContext(u.shape[1], targets(Y, kind), 0))
        again.load_state_dict(loss.state_dict())
        copied = deepcopy(loss)
        other = torch.randn_like(u)
        expected = loss(other, batch)
        assert torch.equal(again(other, batch), expected)
        assert torch.equal(copied(other, batch), expected)

    @every_loss
    @every_kind
    def test_started_again(self, name, kind):
        loss, u, batch, Y = problem(name, kind, torch.float32)
        for _ in range(250 if name == "hashnet" else 3):
            loss(u, batch)
        new = ALL[name]()
        for each in (loss, new):
            each.start(LossContext(u.shape[1], targets(Y, kind), 5))
            each.start_epoch(0, lambda: torch.ones(N, u.shape[1]))
        assert torch.equal(loss(u, batch), new(u, batch))

    @every_loss
    def test_moved(self, name):
        loss, u, _, Y = problem(name, "one label", torch.float32)
        loss.to("meta")
        batch = targets(Y, "one label").to(torch.device("meta"))[
            torch.arange(B, device="meta")
        ]
        assert loss(u.to("meta"), batch).shape == ()


class TestHashNet:
    def test_beta_is_renewed_every_200_steps(self):
        loss, u, batch, _ = problem("hashnet", "one label", torch.float32)
        found = []
        for _ in range(450):
            found.append(loss.beta)
            loss(u, batch)
        assert found == [1.0] * 200 + [2**0.5] * 200 + [3**0.5] * 50

    def test_evaluation_is_no_step(self):
        loss, u, batch, _ = problem("hashnet", "one label", torch.float32)
        loss.eval()
        loss(u, batch)
        assert loss.step == 0

    def test_alpha(self):
        loss, u, batch, Y = problem("hashnet", "one label")
        loss.alpha = 10 / K
        expected = hashnet(loss, u.numpy(), Y[batch.rows], Y)
        assert float(loss(u, batch)) == pytest.approx(expected, rel=1e-6)


class TestDSDH:
    def after(self, U, n_classes=2, **options):
        """Return the loss after its first epoch with these scores, and the labels."""
        Y = torch.eye(n_classes, dtype=torch.float64)[torch.arange(len(U)) % n_classes]
        loss = DSDH(**options)
        loss.start(LossContext(U.shape[1], targets(Y.numpy(), "one label"), 0))
        loss.double()
        loss.start_epoch(0, lambda: U)
        return loss, Y

    def scores(self, seed, n=5, n_bits=3):
        g = torch.Generator().manual_seed(seed)
        return torch.randn((n, n_bits), generator=g, dtype=torch.float64)

    @staticmethod
    def objective(bits, W, Y, U, weight):
        return ((Y - bits @ W) ** 2).sum() + weight * ((bits - U) ** 2).sum()

    def test_the_classifier_is_ridge_regression(self):
        U = self.scores(0, n=40)
        loss, Y = self.after(U, mu=2.0, nu=1.4)
        W = loss.W.clone().requires_grad_()
        (((Y - signs(U) @ W) ** 2).sum() + 0.7 * (W**2).sum()).backward()
        torch.testing.assert_close(W.grad, torch.zeros_like(W), atol=1e-9, rtol=0)
        assert torch.equal(loss.classifier, loss.W.T)

    @given(st.integers(0, 10_000), st.sampled_from([0.0, 0.3, 55.0]))
    def test_descent_never_rises(self, seed, eta):
        U = self.scores(seed, n=9, n_bits=5)
        loss, Y = self.after(U, eta=eta)
        first, last = (self.objective(B, loss.W, Y, U, eta) for B in (signs(U), loss.B))
        assert last <= first + 1e-9

    @given(st.integers(0, 10_000), st.sampled_from([1, 3]))
    def test_no_column_could_be_better(self, seed, n_bits):
        """Of one bit, none at all."""
        U = self.scores(seed, n_bits=n_bits)
        loss, Y = self.after(U, eta=0.3)
        least = self.objective(loss.B, loss.W, Y, U, 0.3)
        for k, column in product(range(n_bits), product((-1, 1), repeat=5)):
            other = loss.B.clone()
            other[:, k] = torch.tensor(column)
            assert self.objective(other, loss.W, Y, U, 0.3) >= least - 1e-9

    def test_gradient_is_that_of_the_whole_objective(self):
        """Of the sum over all pairs and items, divided by the pairs, halved."""
        loss, _, _, Y = problem("dsdh", "several")
        made = targets(Y, "several")
        u = loss.U.clone().requires_grad_()
        loss(u, made[torch.arange(N)]).backward()
        whole = loss.U.clone().requires_grad_()
        T = whole @ whole.T / 2
        s = torch.from_numpy(Y @ Y.T > 0)
        each = torch.nn.functional.softplus(T) - s * T
        pairs_ = each.sum() - each.diagonal().sum()
        total = pairs_ + 55 * ((loss.B - whole) ** 2).sum()
        (total / (2 * N * (N - 1))).backward()
        torch.testing.assert_close(u.grad, whole.grad)

    def test_batches_are_remembered_but_not_while_evaluating(self):
        loss, u, batch, _ = problem("dsdh", "one label")
        loss.eval()
        loss(u, batch)
        assert not torch.equal(loss.U[batch.rows], u)
        loss.train()
        loss(u, batch)
        assert torch.equal(loss.U[batch.rows], u)

    def test_many_items_are_compared_with_some(self):
        n = 5200
        y = Targets(torch.arange(n) % 3, 3)
        loss = DSDH()
        loss.start(LossContext(4, y, 0))
        loss.start_epoch(0, lambda: torch.ones(n, 4))
        assert torch.isfinite(loss(torch.ones(3, 4), y[torch.arange(3)]))


class TestCSQ:
    def test_centre_of_several_labels(self):
        centres = np.array([[1, 1, 1, -1], [1, -1, -1, -1], [-1, 1, -1, -1]])
        Y = torch.tensor([[1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0]]).float()
        y = Targets(Y, 3)
        loss = CSQ(centres)
        loss.start(LossContext(4, y, 0))
        found, tie = loss.centres_of(y[torch.arange(4)]), loss.tie.tolist()
        assert found.tolist() == [
            [1, 1, -1, -1],
            [1, tie[1], tie[2], -1],
            [-1, 1, -1, -1],
            tie,
        ]
        assert set(tie) <= {-1, 1}

    @pytest.mark.parametrize("kind", [CSQ, OrthoHash])
    @pytest.mark.parametrize(
        ("centres", "message"),
        [
            ("semantic", "centres must be an array or one of hadamard, balanced"),
            (np.ones((C, K - 1)), r"= \(4, 6\), got shape \(4, 5\)"),
            (np.zeros((C, K)), "codes must be -1 and 1"),
            (3, r"got shape \(\)"),
        ],
    )
    def test_bad_centres(self, kind, centres, message):
        with pytest.raises(ArgumentError, match=message):
            kind(centres).start(
                LossContext(K, targets(labels("one label"), "one label"), 0)
            )


def test_more_classes_than_centres():
    y = Targets(torch.arange(9), 9)
    for kind in (CSQ, OrthoHash):
        with pytest.raises(ArgumentError, match="9 classes need at least 4 bits"):
            kind().start(LossContext(3, y, 0))


@pytest.mark.parametrize("margin", [0.0, 0.2])
def test_margin_of_orthohash(margin):
    """A cosine that leads by the margin only counts as a draw."""
    single = Targets(torch.tensor([0]), 2)
    loss = OrthoHash([[1, 1], [1, -1]], margin=margin)
    loss.start(LossContext(2, single, 0))
    y = margin / 2**0.5  # the cosines are (x + y) / sqrt(2) and (x - y) / sqrt(2)
    u = 3 * torch.tensor([[(1 - y**2) ** 0.5, y]])
    assert float(loss(u, single[torch.tensor([0])])) == pytest.approx(log(2), rel=1e-5)


def test_only_orthohash_normalises_batches():
    assert [name for name in LOSSES if LOSSES[name].batch_norm] == ["orthohash"]


def test_what_dbdh_balances():
    _, u, batch, Y = problem("dbdh", "one label")
    with_, without = (
        _started(DBDH(balance, memory=0), Y)(u, batch) for balance in (0.7, 0.0)
    )
    means = signs(u).mean(dim=0)
    assert float(with_ - without) == pytest.approx(0.7 * float((means**2).mean()))


def _started(loss, Y):
    loss.start(LossContext(K, targets(Y, "one label"), 0))
    return loss


@pytest.mark.parametrize(
    ("n_classes", "alpha", "weighted"), [(2, 0.5, False), (8, 3.2 / K, True)]
)
def test_what_dbdh_does_where_similar_pairs_are_rare(n_classes, alpha, weighted):
    """Unless it was told otherwise."""
    Y = np.eye(n_classes)[np.arange(4 * n_classes) % n_classes]
    batch = targets(Y, "one label")[torch.arange(len(Y))]
    u = torch.randn(len(Y), K, generator=torch.Generator().manual_seed(0))
    made = _started(DBDH(), Y)
    told = _started(DBDH(alpha=alpha, weighted=weighted), Y)
    other = _started(DBDH(alpha=0.3, weighted=not weighted), Y)
    assert made(u, batch) == told(u, batch) != other(u, batch)
    assert (made.alpha, made.weighted) == (None, None)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DBDH(balance=-1), "balance must be"),
        (lambda: DBDH(alpha=0), "alpha must be"),
        (lambda: DBDH(weighted=1), "weighted must be"),
        (lambda: HashNet(growth=-1), "growth must be"),
        (lambda: HashNet(alpha=0), "alpha must be"),
        (lambda: GreedyHash("x"), "quantization must be"),
        (lambda: DCH(gamma=0), "gamma must be"),
        (lambda: DCH(quantization=-1), "quantization must be"),
        (lambda: CSQ(quantization=-1), "quantization must be"),
        (lambda: OrthoHash(scale=-1), "scale must be"),
        (lambda: OrthoHash(margin=5), "margin must be"),
        (lambda: DSDH(mu=0), "mu must be"),
        (lambda: DSDH(nu=0), "nu must be"),
        (lambda: DSDH(eta=float("nan")), "eta must be"),
    ],
)
def test_bad_options(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


def test_classifiers():
    for kind in (GreedyHash, DSDH):
        loss, *_ = problem(kind.__name__.lower(), "one label")
        assert loss.classifier.shape == (C, K)
        assert not loss.classifier.requires_grad
    assert HashNet().classifier is None
    assert DCH().parameter_groups(0.1) == []
    loss, *_ = problem("greedyhash", "one label")
    (group,) = loss.parameter_groups(0.1)
    assert group["lr"] == 0.1
    assert group["params"] == [loss.layer.weight]


class TestBatch:
    @every_kind
    def test_pairs(self, kind):
        Y = labels(kind)
        batch = targets(Y, kind)[torch.arange(N)]
        similar, overlap = batch.similar().numpy(), batch.overlap().numpy()
        for i, j, s, share in pairs(Y, N):
            assert similar[i, j] == s
            assert overlap[i, j] == pytest.approx(share)

    def test_items_without_a_label(self):
        batch = targets(labels("several"), "several")[torch.arange(N)]
        assert batch.labelled.ravel().tolist() == labels("several").any(axis=1).tolist()
        assert (
            targets(labels("one label"), "one label")[torch.arange(3)].labelled is None
        )


def pair_loss(name):
    """Return a loss on pairs, alone and with the memory of all items."""
    made = [LOSSES[name](memory=memory) for memory in (0, N)]
    for loss in made:
        loss.double()
    return made


@pytest.mark.parametrize("name", ["hashnet", "dbdh"])
@pytest.mark.parametrize("kind", ["one label", "several"])
class TestMemory:
    def test_of_all_items_is_the_loss_of_all_pairs(self, name, kind):
        """Where all scores are fresh and all items are asked."""
        _, _, _, Y = problem(name, kind)
        made, everything = targets(Y, kind), torch.arange(N)
        u = torch.randn(
            N, K, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
        )
        values = []
        for loss in pair_loss(name):
            loss.start(LossContext(K, made, 0))
            loss.double()
            loss.start_epoch(0, lambda: u)
            scores = u.clone().requires_grad_()
            value = loss(scores, made[everything])
            value.backward()
            values.append((value.detach(), scores.grad))
        (alone, slopes), (known, half) = values
        torch.testing.assert_close(alone, known)
        if name == "hashnet":  # a pair moves one of its items at a time
            torch.testing.assert_close(slopes, 2 * half)

    def test_remembers_what_it_was_shown(self, name, kind):
        _, _, _, Y = problem(name, kind)
        made = targets(Y, kind)
        _, loss = pair_loss(name)
        loss.start(LossContext(K, made, 0))
        loss.double()
        loss.start_epoch(0, lambda: torch.zeros(N, K))
        rows = torch.tensor([3, 1])
        loss(torch.ones(2, K, dtype=torch.float64), made[rows])
        assert (loss.U[rows] == 1).all()
        assert loss.U.sum() == 2 * K
