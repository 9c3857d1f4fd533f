"""The training loop: epochs of batches, metrics, the best epoch, early stopping."""

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fewbits._warnings import warn_user
from fewbits.analysis.bounds import code_bound
from fewbits.codes import pack
from fewbits.errors import ArgumentError, ArtefactError, DivergedError
from fewbits.evaluation import Relevance, mean_average_precision, same_label
from fewbits.learners._core._iterative import Checkpoint
from fewbits.learners.deep._config import TrainingConfig
from fewbits.learners.deep._network import (
    HashNetwork,
    Items,
    State,
    copy_of,
    parts_of,
    reproducible,
)
from fewbits.learners.deep._posterior import Control
from fewbits.learners.deep.losses import Batch, Loss, Targets

_MOST_QUERIES, _MOST_ITEMS = 1000, 20_000
_HALVES = slice(0, None, 2), slice(1, None, 2)

Scores = NDArray[np.float32]


def split_off(
    labels: NDArray[Any], share: float, rng: np.random.RandomState
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows to train on, and held-out rows: this share of every class."""
    # A class of one item is trained on. Items with several labels are drawn without
    # regard to which they have, but for those that have none, which say nothing about a
    # ranking; one goes back for each label that would be left without any.
    n = len(labels)
    order = rng.permutation(n)
    if labels.ndim == 2:
        labelled = order[labels[order].any(axis=1)]
        held_out = labelled[: round(share * len(labelled))]
        there, total = labels[held_out] > 0, np.count_nonzero(labels, axis=0)
        lost = np.flatnonzero((total > 0) & (there.sum(axis=0) == total))
        back = [held_out[np.argmax(there[:, label])] for label in lost]
        held_out = np.setdiff1d(held_out, back)
    else:
        shuffled = labels[order]
        grouped = np.argsort(shuffled, kind="stable")
        starts = np.searchsorted(shuffled[grouped], shuffled[grouped])
        place = np.empty(n, np.int64)  # how many items of its class come before each
        place[grouped] = np.arange(n) - starts
        size = np.bincount(labels)[shuffled]
        held_out = order[(place < np.round(share * size)) & (place < size - 1)]
    return np.setdiff1d(np.arange(n), held_out), np.sort(held_out)


class Evaluator:
    """Rank training items for held-out ones: 20,000 and 1,000 of them at most."""

    def __init__(
        self,
        labels: NDArray[Any],
        train: NDArray[np.int64],
        held_out: NDArray[np.int64],
        rng: np.random.RandomState,
        base: str,
    ) -> None:
        self.items = rng.permutation(train)[:_MOST_ITEMS]
        self.queries = rng.permutation(held_out)[:_MOST_QUERIES]
        if base == "held_out" and labels.ndim == 1:  # so that halves share classes
            by_class = np.argsort(labels[self.queries], kind="stable")
            self.queries = self.queries[by_class]
        self._item_labels, self._query_labels = labels[self.items], labels[self.queries]
        #: Rows of queries, rows that they search (None: the items), and the relevance.
        self._searches: list[tuple[slice, slice | None, Relevance]] = []
        if base == "held_out":
            one, other = (self._query_labels[half] for half in _HALVES)
            if labels.ndim == 1:
                shared = bool((np.bincount(self._query_labels) > 1).any())
            else:
                shared = bool((one.any(axis=0) & other.any(axis=0)).any())
            if not shared:
                raise ArgumentError(
                    "validation_base='held_out' lets held-out items rank one another, "
                    f"but the two halves of {len(self.queries)} share no label: raise "
                    "validation"
                )
            self._searches = [
                (*_HALVES, same_label(one, other)),
                (*_HALVES[::-1], same_label(other, one)),
            ]
        elif len(held_out):
            relevance = same_label(self._query_labels, self._item_labels)
            self._searches = [(slice(None), None, relevance)]

    def metrics(
        self, items: Scores, queries: Scores, classes: Scores | None = None
    ) -> dict[str, float]:
        """Return ``bound``, and ``map`` if there are queries, from the scores."""
        # With scores of `classes` for the queries also ``accuracy``: how often the best
        # is one of theirs.
        codes = pack(items >= 0)
        bound = code_bound(codes, items.shape[1], self._item_labels)
        metrics = {"bound": float(bound.ratio)}
        if not len(queries):
            return metrics
        asking = pack(queries >= 0)
        values = [
            mean_average_precision(
                asking[rows], codes if base is None else asking[base], relevance
            ).value
            for rows, base, relevance in self._searches
        ]
        metrics["map"] = float(np.mean(values))
        if classes is None:
            return metrics
        # Of classes that are equally good, each is taken as often.
        best = classes == classes.max(axis=1, keepdims=True)
        n_best, labels = best.sum(axis=1), self._query_labels
        if labels.ndim == 1:
            accuracy = np.mean(best[np.arange(len(best)), labels] / n_best)
        else:
            shares = (best & (labels > 0)).sum(axis=1) / n_best
            accuracy = shares.sum() / max(labels.any(axis=1).sum(), 1)
        return {**metrics, "accuracy": float(accuracy)}


#: The metrics of an epoch.
Record = dict[str, Any]
#: Makes scores of classes (b, n_classes) from those of the network (b, n_bits).
Classify = Callable[[Tensor], Tensor]
#: Called after each epoch with its metrics: epoch, loss, seconds (of the steps), bound,
#: map and accuracy, metrics_seconds (of the last three), and phase where there are
#: several.
Callback = Callable[[Record], None]

_N_SMOOTHED = 9  # epochs beside each other that tell together how good they are
#: Training has failed if, after so many epochs, mAP is below `_POOR` and closed less
#: than this share of the gap between the untrained network and 1.
_LEAST_GAIN, _POOR, _FEWEST_EPOCHS = 0.1, 0.5, 10


#: What a checkpoint holds the states of.
_STATEFUL = ("network", "objective", "optimizer", "schedule", "scaler")


class Objective(nn.Module):
    def __init__(self, loss: Loss, control: Control | None) -> None:
        super().__init__()
        self.loss, self.control = loss, control

    @property
    def has_loss(self) -> bool:
        """True if the loss counts, and its own parameters learn."""
        return self.control is None or self.control.mode == "add"

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        if self.control is None:
            value: Tensor = self.loss(scores, batch)
            return value
        terms = self.control(scores, batch)
        total: Tensor = self.control.weight * terms.codes + terms.networks
        if self.has_loss:
            total = total + self.loss(scores, batch)
        return total


@dataclass(frozen=True, eq=False)
class Problem:
    items: Items
    n_features: int
    labels: NDArray[Any]
    train: NDArray[np.int64]
    targets: Targets  # of the rows in `train`
    evaluator: Evaluator
    seed: int
    checksum: str


class Trainer:
    """Train a network on items."""

    # The `objective` has started, and the `items` are those of the problem, or their
    # features. Where there is a way to `classify` items by their scores, accuracy on
    # the held-out items decides which epoch is the best, and mAP otherwise.

    judged = False  # whether `untrained` is measured
    untrained: float | None = None  # mAP of held-out items before the first step
    interrupted = False  # set by the caller that catches an interrupt

    def __init__(
        self,
        network: HashNetwork,
        objective: Objective,
        items: Items,
        problem: Problem,
        config: TrainingConfig,
        device: torch.device,
        n_epochs: int,
        *,
        phase: str,  # empty when it is all
        checkpoint: Checkpoint | None,
        classify: Classify | None,
    ) -> None:
        self.device, self.n_epochs, self.phase = device, n_epochs, phase
        self.seed, self.checkpoint = problem.seed, checkpoint
        self.network, self.objective = network.to(device), objective.to(device)
        self.items, self.targets = items, problem.targets.to(device)
        self.train = torch.from_numpy(problem.train)
        self.evaluator, self.config = problem.evaluator, config
        self.classify = classify
        self._criterion = "map" if classify is None else "accuracy"
        with network.frozen():
            self.optimizer = self._make_optimizer()
        n_steps = n_epochs * len(self._batches(0))
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(
            self.optimizer, max(n_steps, 1)
        )
        self.scaler = torch.amp.GradScaler(
            device.type, enabled=config.mixed_precision and device.type == "cuda"
        )
        self.history: list[Record] = []
        #: Place in the history, and states of network and objective then.
        self._best: tuple[int, State, State] | None = None
        self._random: State | None = None
        self._resume()

    def _make_optimizer(self) -> torch.optim.Optimizer:
        """Return AdamW over head, backbone, loss and control, each at its own rate."""
        rate = self.config.learning_rate
        groups: list[dict[str, Any]] = [
            {"params": self.network.head.parameters(), "lr": rate}
        ]
        if self.network.backbone is not None:
            slower = rate * self.config.backbone_rate
            groups.append({"params": self.network.backbone.parameters(), "lr": slower})
        groups += self.objective.loss.parameter_groups(rate)
        if self.objective.control is not None:
            groups.append({"params": self.objective.control.parameters(), "lr": rate})
        trained: dict[float, list[nn.Parameter]] = {}
        for group in groups:  # a step takes time for each group, however small
            needed = [p for p in group["params"] if p.requires_grad]
            trained.setdefault(group["lr"], []).extend(needed)
        return torch.optim.AdamW(
            [{"params": params, "lr": lr} for lr, params in trained.items() if params],
            weight_decay=self.config.weight_decay,
            fused=True,
        )

    def epochs(self) -> Generator[Record, None, None]:
        """Train, and yield the metrics of each epoch; go on where a checkpoint ends."""
        with reproducible(self.seed), self.network.frozen():
            if self._random is not None:
                torch.set_rng_state(self._random["cpu"])
                if self._random["cuda"] and torch.cuda.is_available():
                    torch.cuda.set_rng_state_all(self._random["cuda"])
            elif self.judged and self.config.eval_every:
                self.untrained = self._metrics().get("map")
            for epoch in range(len(self.history), self.n_epochs):
                good = copy_of(self.network), copy_of(self.objective)
                try:
                    record = self._epoch(epoch, good)
                except KeyboardInterrupt:
                    self._go_back(good)
                    raise
                self.history.append(record)
                best = self._best
                if self._criterion in record and (
                    best is None
                    or self._rank(record) > self._rank(self.history[best[0]])
                ):
                    states = copy_of(self.network), copy_of(self.objective)
                    self._best = epoch, *states
                self._save()
                yield record

    def _epoch(self, epoch: int, good: tuple[State, State]) -> Record:
        start = time.perf_counter()
        self.network.train()
        self.objective.train()
        if self.objective.has_loss:
            score_all = partial(self.score, self.train.numpy())
            self.objective.loss.start_epoch(epoch, score_all)
        batches = self._batches(epoch)
        total = 0.0
        for rows in batches:
            loss = self._step(rows)
            if not np.isfinite(loss):
                self._give_up(epoch, good)
            total += loss
        # All that is trained, and what normalises scores: the last step may spoil them.
        # Other buffers of a backbone, such as masks, need not be finite.
        trained = (*self.network.parameters(), *self.objective.parameters())
        norm = self.network.head.norm.buffers()
        if not all(bool(t.isfinite().all()) for t in (*trained, *norm)):
            self._give_up(epoch, good)
        record: Record = {"epoch": epoch + 1.0, "loss": total / len(batches)}
        if self.phase:
            record["phase"] = self.phase
        record["seconds"] = time.perf_counter() - start
        every = self.config.eval_every
        is_last = epoch == self.n_epochs - 1
        if every and ((epoch + 1) % every == 0 or is_last):
            start = time.perf_counter()
            record |= self._metrics()
            record["metrics_seconds"] = time.perf_counter() - start
        return record

    def _batches(self, epoch: int) -> list[Tensor]:
        """Return the shuffled numbers of training items; a rest of one is left out."""
        seed = self.seed * 1_000_003 + epoch
        generator = torch.Generator().manual_seed(seed % 2**63)
        order = torch.randperm(len(self.train), generator=generator)
        batches = parts_of(order, self.config.batch_size)
        if len(batches) > 1 and len(batches[-1]) == 1:
            batches.pop()
        return batches

    def _step(self, rows: Tensor) -> float:
        X = self.items[self.train[rows]].to(self.device)
        mixed = self.config.mixed_precision
        with torch.autocast(self.device.type, enabled=mixed):
            scores = self.network(X)
        value: Tensor = self.objective(
            scores.float(), self.targets[rows.to(self.device)]
        )
        loss = float(value.detach())
        if not np.isfinite(loss):
            return loss
        self.optimizer.zero_grad(set_to_none=True)
        self.scaler.scale(value).backward()  # type: ignore[no-untyped-call]
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.schedule.step()
        return loss

    def _give_up(self, epoch: int, good: tuple[State, State]) -> None:
        self._go_back(good)
        outcome = "; what was good before is kept"
        if epoch == 0:  # a phase before this one may have left something
            outcome = "" if self.phase else "; nothing was good before"
        mixed = self.config.mixed_precision
        more = ", set training.mixed_precision=False" if mixed else ""
        raise DivergedError(
            f"the loss is not finite in epoch {epoch + 1}{outcome}. "
            f"Lower training.learning_rate ({self.config.learning_rate:g}){more}, or "
            "standardize the features"
        )

    def _metrics(self) -> Record:
        evaluator = self.evaluator
        items, queries = self.score(evaluator.items), self.score(evaluator.queries)
        classes = None
        if self.classify is not None and len(queries):
            classes = self.classify(queries).cpu().numpy()
        return evaluator.metrics(items.cpu().numpy(), queries.cpu().numpy(), classes)

    def score(self, rows: NDArray[np.int64]) -> Tensor:
        self.network.eval()
        with torch.inference_mode():
            parts = [
                self.network(self.items[part].to(self.device)).float()
                for part in parts_of(torch.from_numpy(rows), self.config.batch_size * 4)
            ]
        self.network.train()
        return torch.cat(parts) if parts else torch.empty(0)

    def _rank(self, record: Record) -> tuple[float, ...]:
        """Return what is larger for a better epoch; accuracies are often the same."""
        if self._criterion == "map":
            return (record["map"],)
        return record["accuracy"], -record["loss"]

    @property
    def n_best(self) -> int:
        """Number of epochs that is best, by smoothed metrics; all without any."""
        measured = [record for record in self.history if self._criterion in record]
        if not measured:
            return len(self.history)
        values = [record[self._criterion] for record in measured]
        window = max(1, _N_SMOOTHED // self.config.eval_every)  # of looks, not epochs
        return int(measured[int(np.argmax(smooth(values, window)))]["epoch"])

    def restore_best(self) -> None:
        if self._best is not None:
            self._go_back(self._best[1:])
        self.network.eval()

    def _go_back(self, states: tuple[State, State]) -> None:
        self.network.load_state_dict(states[0])
        self.objective.load_state_dict(states[1])

    def warn_of_no_gain(self, name: str) -> None:
        """Warn where held-out items rank hardly better than before training."""
        maps = [record["map"] for record in self.history if "map" in record]
        if self.untrained is None or not maps or len(self.history) < _FEWEST_EPOCHS:
            return
        best, before = max(maps), self.untrained
        # Not where either is NaN.
        if best < _POOR and best - before < _LEAST_GAIN * (1 - before):
            warn_user(
                f"{name} has learnt hardly anything: held-out items rank with an mAP "
                f"of {best:.3f} at best, and with {before:.3f} before training. Try "
                "more training.max_epochs, another training.learning_rate "
                f"({self.config.learning_rate:g}) or loss"
            )

    def _save(self) -> None:
        if self.checkpoint is None:
            return
        on_gpus = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
        state = {
            **{name: getattr(self, name).state_dict() for name in _STATEFUL},
            "random": {"cpu": torch.get_rng_state(), "cuda": on_gpus},
            "history": self.history,
            "untrained": self.untrained,
            "best": self._best and list(self._best),
        }
        buffer = BytesIO()
        torch.save(state, buffer)
        content = np.frombuffer(buffer.getbuffer(), np.uint8)
        self.checkpoint.write((content,), [])

    def _resume(self) -> None:
        if self.checkpoint is None:
            return
        self.checkpoint.check()
        saved = self.checkpoint.read()
        if saved is None:
            return
        content = BytesIO(saved[0][0].tobytes())
        try:  # nothing in it is run
            state = torch.load(content, map_location="cpu", weights_only=True)
        except Exception as error:  # of many kinds, for what it refuses to make
            raise ArtefactError(
                f"{self.checkpoint.path} is damaged; name another"
            ) from error
        for name in _STATEFUL:
            getattr(self, name).load_state_dict(state[name])
        self.history, self.untrained = state["history"], state["untrained"]
        self._best = state["best"] and tuple(state["best"])
        self._random = state["random"]


def smooth(values: Sequence[float], n: int = _N_SMOOTHED) -> NDArray[np.float64]:
    """Return means over neighbouring values, of fewer at both ends."""
    # The best epoch of all is partly luck; the middle of good ones is less so.
    near = np.ones(min(n, len(values)))
    counts = np.convolve(np.ones(len(values)), near, "same")
    return np.convolve(values, near, "same") / counts
