"""Networks on frozen features, and what is chosen for them on held-out items.

Variants of losses on pairs, learning rates and weights of controls are chosen at 32
bits with a seed of their own, without any query that is reported, and kept for all
lengths: first variant and rate of the loss alone, then the weight of a control, then
the rate with it. The number of epochs is chosen for each length. The measure is how
well held-out items rank those that are trained on or, where the base has none of
these, one another.
"""

from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fewbits.evaluation import mean_average_precision, same_label
from fewbits.learners.deep import (
    CentreControl,
    DeepHash,
    NetworkConfig,
    PosteriorControl,
    TrainingConfig,
)
from fewbits.learners.deep._trainer import smooth
from fewbits.learners.deep.losses import LOSSES, Loss
from research.common.choices import (
    CHOSEN_BITS,
    CHOSEN_SEED,
    EPOCHS,
    MORE_EPOCHS,
    MORE_RATES,
    N_SEEDS,
    NEW_BASE,
    RATES,
    USUAL_EPOCHS,
    Choice,
    best_of,
    halves,
    mean_unseen,
    measured,
)
from research.common.losses import (
    CauchyControl,
    ClampedDBDH,
    FrozenPosterior,
    PublicDCH,
)
from research.common.problems import Problem, choice_problem
from research.core.record import Metrics, store_of
from research.core.runner import task

#: Public code decays no weights. Held-out items that rank trained ones speak against
#: decay, so it is not chosen by them: of 0, 1, 3 and 10, 3 is best or nearly so where
#: held-out items rank one another (decision 0010).
HEADS: dict[str, tuple[NetworkConfig, float]] = {
    "linear": (NetworkConfig(hidden=()), 0.0),
    "linear with decay": (NetworkConfig(hidden=()), 3.0),
    "mlp": (NetworkConfig(hidden=(1024,), dropout=0.0), 0.0),
    "mlp with dropout": (NetworkConfig(hidden=(1024,), dropout=0.5), 0.0),
}
PUBLIC_HEADS, FIXED_RATE = ("linear", "mlp"), {"linear with decay": 1e-3}
#: At first so small that the loss is all but alone; then half a decade off the best.
WEIGHTS, MORE_WEIGHTS = (1e-5, 1e-4, 0.001, 0.01, 0.1, 1.0), (10.0, 100.0)
#: What papers leave open, or public code does in another way; with a memory an item
#: meets all of its class, of whom few are in a batch.
_NONE, _LAST, _LESS = {"memory": 0}, {"memory": 5000}, {"alpha": 0.1}
_SCORES, _ITSELF = {"bounded": False}, {"with_itself": True}
#: Of DBDH, also where similar pairs are rare.
_PUBLISHED = {"alpha": 0.5, "weighted": False}
CLAMPED = "clamped, memory"
VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "hashnet": {
        **{"": _NONE, "memory": _LAST, "alpha .1": _LESS | _NONE},
        "alpha .1, memory": _LESS | _LAST,
    },
    "dbdh": {
        "": _PUBLISHED | _NONE,
        "memory": _PUBLISHED | _LAST,
        CLAMPED: _PUBLISHED | _LAST,
    },
    "dch": {
        **{"": {}, "of scores": _SCORES, "with itself": _ITSELF},
        "of scores, with itself": _SCORES | _ITSELF,
    },
    "dsdh": {"": {}, "eta 1": {"eta": 1.0}, "eta 0": {"eta": 0.0}},
}
MAX_EPOCHS = 100
CONTROLS: dict[str, Any] = {
    "": None,
    "D": PosteriorControl,
    "centres": CentreControl,
    "frozen": FrozenPosterior,
}
#: Controls in place of a loss; AdamW makes nothing of the weight of a single term.
_MORE = ("learnt", "semantic", "predictable")
ALONE: dict[str, Any] = {
    "D alone": PosteriorControl,
    "D alone, frozen": CONTROLS["frozen"],
    "D alone, separated centres": partial(PosteriorControl, centres="separated"),
    **{f"D alone, {c} centres": partial(PosteriorControl, centres=c) for c in _MORE},
    "centres alone": CentreControl,
    **{f"centres alone, {c}": partial(CentreControl, centres=c) for c in _MORE},
    "centres alone, Cauchy": CauchyControl,
}
#: Whose epochs are followed with three seeds, as those of every head of ours.
FOLLOWED, N_FOLLOWED = (("D alone", ""), ("csq", "D"), ("hashnet", "D")), 3
STORE = store_of("lower_bound")


class MissingChoiceError(Exception):
    """A choice was left out of a run, so that what is made by it cannot be listed."""


class Chosen(NamedTuple):
    """Settings that are chosen: a variant is one of `VARIANTS`."""

    variant: str
    weight: float | None
    rate: float


@dataclass(frozen=True)
class Net:
    """A head that is trained by a loss and a control."""

    data: str
    head: str
    bits: int
    method: str
    control: str = ""

    @property
    def settings(self) -> dict[str, Any]:
        """As they are stored."""
        return asdict(self)

    def learner(self, choice: Chosen, seed: int, **training: Any) -> DeepHash:
        """Return an untrained learner."""
        beside, method = CONTROLS[self.control], self.method
        control = None if beside is None else beside(weight=choice.weight)
        if method in ALONE:  # the loss is not computed, but there must be one
            method, control = "csq", ALONE[method](mode="replace")
        network, decay = HEADS[self.head]
        usual = {"max_epochs": MAX_EPOCHS, "learning_rate": choice.rate}
        return DeepHash(
            self.bits,
            loss=loss_of(method, choice.variant),
            control=control,
            network=network,
            training=TrainingConfig(**{**usual, "weight_decay": decay, **training}),
            random_state=seed,
        )


def loss_of(method: str, variant: str) -> Loss:
    """Return the variant of a loss."""
    kind: Any = PublicDCH if method == "dch" else LOSSES[method]
    if variant == CLAMPED:
        kind = ClampedDBDH
    loss: Loss = kind(**VARIANTS.get(method, {}).get(variant, {}))
    return loss


def choose(net: Net) -> Choice:
    """Return the `Chosen` that ranks held-out items best; frozen surrogates have D's.

    By itself one would get a weight so small that nothing is left of it.
    """
    if net.control == "frozen":
        return (yield from choose(replace(net, control="D")))
    alone, rates = replace(net, control=""), {}
    for each in VARIANTS.get(net.method, ("",)):
        rates[each] = yield from _best_rate(alone, each, None)
    variant = max(rates, key=lambda each: rates[each][1])
    rate = rates[variant][0]
    if not net.control:
        return Chosen(variant, None, rate)

    def with_weight(weight: float) -> Choice:
        return _held_out(net, Chosen(variant, weight, rate))

    decade = yield from best_of(WEIGHTS, with_weight, MORE_WEIGHTS)
    beside = (float(f"{0.3 * decade:.0e}"), float(f"{3 * decade:.0e}"), decade)
    weight = yield from best_of(beside, with_weight)
    rate, _ = yield from _best_rate(net, variant, weight)
    return Chosen(variant, weight, rate)


def _best_rate(net: Net, variant: str, weight: float | None) -> Choice:
    """Return the best rate, and how good it is."""

    def quality(rate: float) -> Choice:
        return _held_out(net, Chosen(variant, weight, rate))

    if net.head in FIXED_RATE:
        rate = FIXED_RATE[net.head]
    else:
        rate = yield from best_of(RATES, quality, MORE_RATES)
    return rate, (yield from quality(rate))


def _held_out(net: Net, choice: Chosen) -> Choice:
    """Return the best mAP on held-out items, at 32 bits."""
    settings = {**net.settings, "weight": choice.weight, "rate": choice.rate}
    del settings["bits"]
    if choice.variant:
        settings["variant"] = choice.variant
    at = replace(net, bits=CHOSEN_BITS)
    return _asked("choices", settings, partial(_rank_held_out, at, choice), "map")


def _asked(part: str, settings: Metrics, measure: Any, metric: str) -> Choice:
    found = yield from measured(task(part, settings, measure), STORE)
    if found is None:
        raise MissingChoiceError(settings)
    return found[metric]


def _rank_held_out(net: Net, choice: Chosen) -> Metrics:
    if net.data in NEW_BASE:
        return {"map": _unseen(net, choice, CHOSEN_SEED, USUAL_EPOCHS)["unseen"]}
    learner, _ = _trained(net, choice, CHOSEN_SEED)
    return {"map": max(record["map"] for record in learner.history_)}


def _trained(
    net: Net, choice: Chosen, seed: int, **training: Any
) -> tuple[DeepHash, Problem]:
    problem = choice_problem(net.data, seed, N_SEEDS)
    return problem.learn(net.learner(choice, seed, **training)), problem


def best_epoch(net: Net, choice: Chosen) -> Choice:
    """Return how many epochs rank held-out items best, and how well.

    With a head of ours it is the median of several seeds. A frozen surrogate is trained
    as long as D: where epochs hardly matter, chance would set the best of each apart.
    """
    frozen = net.control == "frozen"
    if frozen:
        epochs, _ = yield from best_epoch(replace(net, control="D"), choice)
    if net.data in NEW_BASE:
        after = partial(_unseen_after, net, choice)
        if not frozen:
            epochs = yield from best_of(EPOCHS, after, MORE_EPOCHS)
        return epochs, (yield from after(epochs))
    found = yield from every_epoch(net, choice)
    curves = [smooth(each) for each in found]
    if frozen:
        return epochs, float(curves[0][epochs - 1])
    if net.head in PUBLIC_HEADS:
        del curves[1:]
    best = [int(np.argmax(each)) + 1 for each in curves]
    return round(float(np.median(best))), float(curves[0].max())


def every_epoch(net: Net, choice: Chosen) -> Choice:
    """Return the mAP after each epoch, of held-out items, for one seed or three."""
    linear = net.head == "linear" and (net.method, net.control) in FOLLOWED
    n, found = (N_FOLLOWED if linear or net.head not in PUBLIC_HEADS else 1), []
    for seed in range(CHOSEN_SEED, CHOSEN_SEED + n):
        settings = {**net.settings, "seed": seed}
        measure = partial(follow, net, choice, seed)
        found.append((yield from _asked("epochs", settings, measure, "map")))
    return found


def follow(net: Net, choice: Chosen, seed: int, **training: Any) -> Metrics:
    """Train with held-out items; the bound of each epoch is that of trained ones."""
    learner, problem = _trained(net, choice, seed, **training)
    curves = {key: [each[key] for each in learner.history_] for key in ("map", "bound")}
    more = {} if net.head in PUBLIC_HEADS else {"unseen": unseen(learner, problem)}
    return {**choice._asdict(), **curves, **more}


def _unseen_after(net: Net, choice: Chosen, epochs: float) -> Choice:
    """Return how well held-out items rank one another after a number of epochs."""
    settings = {**net.settings, "epochs": int(epochs)}
    measure = partial(_unseen, net, choice, epochs=int(epochs))
    found = yield from mean_unseen(settings, measure, STORE)
    if found is None:
        raise MissingChoiceError(settings)
    return found


def _unseen(net: Net, choice: Chosen, seed: int, epochs: int) -> Metrics:
    """Train; the rate falls to 0 by the last epoch, as it will with all items."""
    trained = _trained(net, choice, seed, max_epochs=epochs)
    return {**choice._asdict(), "unseen": unseen(*trained)}


def unseen(learner: DeepHash, problem: Problem) -> float:
    """Return the mAP of held-out items, either half of them ranking the other."""
    found = []
    for asked, base in halves(problem, problem.train[learner.held_out_]):
        query, ranked = (learner.encode(problem.X[side]) for side in (asked, base))
        right = same_label(problem.labels[asked], problem.labels[base])
        found.append(mean_average_precision(query, ranked, right).value)
    return float(np.mean(found))
