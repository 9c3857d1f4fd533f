"""The training loop: epochs of batches, the best epoch, and early stopping."""

import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fewbits.errors import DivergedError
from fewbits.learners.deep import _checkpoint
from fewbits.learners.deep._best import BestEpoch, Record
from fewbits.learners.deep._config import TrainingConfig
from fewbits.learners.deep._data import Items, parts_of
from fewbits.learners.deep._diagnosis import where_not_finite
from fewbits.learners.deep._evaluator import Evaluator
from fewbits.learners.deep._network import HashNetwork
from fewbits.learners.deep._objective import Objective, make_optimizer
from fewbits.learners.deep._phase import Phase
from fewbits.learners.deep._state import (
    State,
    copy_of,
    random_state,
    set_random_state,
)
from fewbits.learners.deep._targets import Targets
from fewbits.learners.deep._torch import memory_advice, reproducible, room_on

#: Makes scores of classes (b, n_classes) from those of the network (b, n_bits).
Classify = Callable[[Tensor], Tensor]
#: Called after each epoch with its metrics: epoch, loss, seconds (of the steps), bound,
#: map and accuracy, metrics_seconds (of the last three), and phase where there are
#: several.
Callback = Callable[[Record], None]


class Trainer:
    """Train a network on items.

    Parameters
    ----------
    network : HashNetwork
    objective : Objective
        Already started.
    items : Items
        Of all rows.
    targets : Targets
        The labels of the rows in `train`.
    train : ndarray of int
        Rows to train on.
    evaluator : Evaluator or None
    config : TrainingConfig
    phase : Phase
    classify : callable or None
        How items are classified by their scores; accuracy on the held-out items then
        decides which epoch is the best, and mAP otherwise.

    Attributes
    ----------
    history : list of dict
        The metrics of each epoch.
    judged : bool
        Whether `untrained` is measured.
    untrained : float or None
        The mAP of held-out items before the first step.
    interrupted : bool
        Whether an interrupt ended it; the caller that catches it says so.
    """

    interrupted = judged = False
    untrained: float | None = None

    def __init__(
        self,
        network: HashNetwork,
        objective: Objective,
        items: Items,
        targets: Targets,
        train: NDArray[np.int64],
        evaluator: Evaluator | None,
        config: TrainingConfig,
        phase: Phase,
        classify: Classify | None = None,
    ) -> None:
        device = phase.device
        with memory_advice(room_on(device)):
            self.network, self.objective = network.to(device), objective.to(device)
            self.items, self.targets = items, targets.to(device)
        self.train = torch.from_numpy(train)
        self.evaluator, self.config, self.phase = evaluator, config, phase
        self.classify = classify
        with network.frozen():
            self.optimizer = make_optimizer(network, objective, config)
        n_steps = phase.n_epochs * len(self._batches(0))
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(
            self.optimizer, max(n_steps, 1)
        )
        self.scaler = torch.amp.GradScaler(
            device.type, enabled=config.mixed_precision and device.type == "cuda"
        )
        self.history: list[Record] = []
        self._best = BestEpoch(by_accuracy=classify is not None)
        self._random: State | None = None
        self._resume()

    def epochs(self) -> Generator[Record, None, None]:
        """Train, and yield the metrics of each epoch; go on where a checkpoint ends."""
        with (
            reproducible(self.phase.seed),
            memory_advice(self._advice()),
            self.network.frozen(),
        ):
            if self._random is not None:
                set_random_state(self._random)
            elif self.judged and self.evaluator is not None and self.config.eval_every:
                self.untrained = self._metrics(self.evaluator).get("map")
            for epoch in range(len(self.history), self.phase.n_epochs):
                if self._best.is_older_than(self.config.patience, self.history):
                    return
                good = self._states()
                try:
                    record = self._epoch(epoch, good)
                except KeyboardInterrupt:
                    self._go_back(good)
                    raise
                self.history.append(record)
                self._best.update(self.history, self._states)
                self._save()
                yield record

    @property
    def n_best(self) -> int:
        """Number of epochs that is best on held-out items; all where none are."""
        return self._best.n_epochs(self.history, self.config.eval_every)

    def restore_best(self) -> None:
        """Go back to the epoch that was best on the held-out items.

        The loss, too: classifiers and codebooks in it belong to the scores of an epoch.
        """
        if self._best.found is not None:
            self._go_back(self._best.found[1:])
        self.network.eval()

    def score(self, rows: NDArray[np.int64]) -> Tensor:
        """Return the scores of some rows, (n, n_bits), without gradients."""
        self.network.eval()
        with torch.inference_mode():
            parts = [
                self.network(self.items[part].to(self.phase.device)).float()
                for part in parts_of(torch.from_numpy(rows), self.config.batch_size * 4)
            ]
        self.network.train()
        return torch.cat(parts) if parts else torch.empty(0)

    def _advice(self) -> str:
        """Return what makes training take less memory, but for what is done already."""
        steps = [f"with training.batch_size={self.config.batch_size}: halve it"]
        if self.network.backbone is not None and not self.network.keeps_backbone:
            steps.append(
                "train fewer layers of the backbone "
                "(network.trainable=0 keeps it as it is)"
            )
        if not self.config.mixed_precision:
            steps.append("set training.mixed_precision=True")
        return ", or ".join(steps)

    def _epoch(self, epoch: int, good: tuple[State, State]) -> Record:
        start = time.perf_counter()
        self.network.train()
        self.objective.train()
        if self.objective.has_loss:
            score_all = partial(self.score, self.train.numpy())
            self.objective.loss.start_epoch(epoch, score_all)
        if self.objective.control is not None:
            self.objective.control.start_epoch(epoch)
        batches = self._batches(epoch)
        total = 0.0
        for rows in batches:
            loss = self._step(rows)
            if not np.isfinite(loss):
                self._give_up(rows, epoch, good)
            total += loss
        if not self._finite():  # the last step spoilt them
            self._give_up(batches[-1], epoch, good)
        record: Record = {"epoch": epoch + 1.0, "loss": total / len(batches)}
        if self.phase.name:
            record["phase"] = self.phase.name
        record["seconds"] = time.perf_counter() - start
        if self.evaluator is not None and self._is_evaluated(epoch):
            start = time.perf_counter()
            record |= self._metrics(self.evaluator)
            record["metrics_seconds"] = time.perf_counter() - start
        return record

    def _is_evaluated(self, epoch: int) -> bool:
        every, last = self.config.eval_every, self.phase.n_epochs - 1
        return every > 0 and ((epoch + 1) % every == 0 or epoch == last)

    def _metrics(self, evaluator: Evaluator) -> Record:
        items, queries = self.score(evaluator.items), self.score(evaluator.queries)
        classes = None
        if self.classify is not None and len(queries):
            classes = self.classify(queries).cpu().numpy()
        return evaluator.metrics(items.cpu().numpy(), queries.cpu().numpy(), classes)

    def _step(self, rows: Tensor) -> float:
        """Make a step on the training items of these numbers, and return the loss.

        No step is made when it is not finite.
        """
        X = self.items[self.train[rows]].to(self.phase.device)
        with self._precision():
            scores = self.network(X)
        value: Tensor = self.objective(
            scores.float(), self.targets[rows.to(self.phase.device)]
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

    def _precision(self) -> AbstractContextManager[Any]:
        if not self.config.mixed_precision:
            return nullcontext()
        return torch.autocast(self.phase.device.type)

    def _batches(self, epoch: int) -> list[Tensor]:
        """Return the shuffled numbers of training items; a rest of one is left out."""
        seed = self.phase.seed * 1_000_003 + epoch
        generator = torch.Generator().manual_seed(seed % 2**63)
        order = torch.randperm(len(self.train), generator=generator)
        batches = parts_of(order, self.config.batch_size)
        if len(batches) > 1 and len(batches[-1]) == 1:
            batches.pop()
        return batches

    def _finite(self) -> bool:
        """Return whether all that is trained, and what normalises scores, is finite.

        Other buffers of a backbone, such as masks, need not be.
        """
        trained = (*self.network.parameters(), *self.objective.parameters())
        norm = self.network.head.norm.buffers()
        return all(bool(each.isfinite().all()) for each in (*trained, *norm))

    def _give_up(self, rows: Tensor, epoch: int, good: tuple[State, State]) -> None:
        """Go back to the last good epoch and say where numbers ceased to be finite."""
        X = self.items[self.train[rows]].to(self.phase.device)
        mixed = self.config.mixed_precision
        place = where_not_finite(self.network, self.objective, X, mixed_precision=mixed)
        self._go_back(good)
        kept = "; what was good before is kept"
        if epoch == 0:  # a phase before this one may have left something
            kept = "" if self.phase.name else "; nothing was good before"
        more = ", set training.mixed_precision=False" if mixed else ""
        raise DivergedError(
            f"the loss is not finite in epoch {epoch + 1}, first in {place}{kept}. "
            f"Lower training.learning_rate ({self.config.learning_rate:g}){more}, or "
            "standardize the features"
        )

    def _states(self) -> tuple[State, State]:
        """Return copies of what network and objective are now."""
        return copy_of(self.network), copy_of(self.objective)

    def _go_back(self, state: tuple[State, State]) -> None:
        self.network.load_state_dict(state[0])
        self.objective.load_state_dict(state[1])

    def _save(self) -> None:
        if self.phase.checkpoint is None:
            return
        state = {
            "network": self.network.state_dict(),
            "objective": self.objective.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "scaler": self.scaler.state_dict(),
            "random": random_state(),
            "history": self.history,
            "untrained": self.untrained,
            "best": self._best.found and list(self._best.found),
        }
        _checkpoint.save(self.phase.checkpoint, self.phase.identity, state)

    def _resume(self) -> None:
        if self.phase.checkpoint is None:
            return
        state = _checkpoint.load(self.phase.checkpoint, self.phase.identity)
        if state is None:
            return
        for name in ("network", "objective", "optimizer", "schedule", "scaler"):
            getattr(self, name).load_state_dict(state[name])
        self.history, self.untrained = state["history"], state["untrained"]
        self._best.found = state["best"] and tuple(state["best"])
        self._random = state["random"]
