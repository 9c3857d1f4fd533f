"""Section 4.4: what has to be trained for the class codes.

A small network on frozen features is trained by LLC; a linear classifier on what it
gives shows what the codes leave. The other way round, one that was trained to classify
learns the same codes: with its projection only, with its last layer, and whole. Of
every training the epoch is kept that classifies held-out items best.
"""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn

from fewbits.classify import Codebook
from fewbits.codes import pack
from fewbits.learners.deep import DeepHash
from fewbits.learners.deep._trainer import Trainer
from fewbits.learners.deep.centres import unique
from fewbits.learners.deep.losses import ClassLoss, CodebookLoss
from research.common.class_codes import CODEBOOK_EPOCHS, LINEAR, linear_llc
from research.common.decoders import FEATURE_COSTS, accuracies, linear_accuracy
from research.common.problems import N_CLASSES, Problem, load_problem
from research.common.settings import configured
from research.core.record import Metrics, Settings

WIDTHS, MAX_EPOCHS = (256, 128), 50
#: How many of the last layers of the classifier's network are trained along.
TRAINED: dict[str, int | None] = {"projection": 0, "last layer": 1, "all layers": None}


class Classifier(DeepHash):
    """A network whose epochs are judged as LLC's are: by accuracy, not by signs."""

    def _train(
        self, problem: Any, network: Any, loss: Any, *rest: Any, **more: Any
    ) -> Trainer:
        more["classify"] = getattr(loss, "classify", lambda scores: scores)
        return super()._train(problem, network, loss, *rest, **more)


class PhaseOne(Classifier):
    """Phase 1 of LLC by itself: with the same seed its network and codebook."""

    def codebook_of_classes(self) -> Codebook:
        assert self.classifier_ is not None
        codes = unique(self.classifier_).codes
        return Codebook(pack(codes > 0), self.n_bits, self.classes_)


class PhaseOneLoss(CodebookLoss):
    """Eq. (2), which hands out its codebook, not yet of signs."""

    @property
    def classifier(self) -> Tensor:
        return self.C.detach()


def cells(data: str) -> list[tuple[int, str]]:
    """Return bits and methods."""
    # Twice the bits that number the classes, as 20 do for 1,000.
    return [(2 * (N_CLASSES[data] - 1).bit_length(), "LLC")]


def measure(settings: Settings) -> Metrics:
    """Return the accuracies of every way to train."""
    n_bits, seed = settings["bits"], settings["seed"]
    raw = load_problem(settings["data"], seed)
    X = StandardScaler().fit(raw.X[raw.train]).transform(raw.X)
    problem = replace(raw, X=X)
    # What is trained of a network learns as fast as the head, whatever it knows.
    options: dict[str, Any] = {"max_epochs": MAX_EPOCHS, "random_state": seed}
    options["backbone_rate"] = 1.0
    new = linear_llc(n_bits, backbone=network(X, seed), **options)
    whole, plain = problem.learn(new), network(X, seed)
    classes = {"loss": ClassLoss(), "backbone": plain, **options}
    classifier = problem.learn(configured(Classifier, len(problem.classes), **classes))
    guesses = classifier.classes_[scores_of(classifier, problem).argmax(axis=1)]
    phase = {
        "loss": PhaseOneLoss(),
        "max_epochs": CODEBOOK_EPOCHS,
        "bias": False,
        **LINEAR,
    }
    one = configured(PhaseOne, n_bits, random_state=seed, **phase)
    two = linear_llc(n_bits, max_epochs=MAX_EPOCHS, random_state=seed)
    found: dict[str, Any] = {
        "phases": {
            name: decoded(problem.learn(head), problem)
            for name, head in (("1", one), ("2", two))  # with a linear head
        },
        "trained for codes": decoded(whole, problem),
        "linear on its features": linear_on(whole, problem),
        "classifier": float(np.mean(guesses == problem.labels[problem.query])),
        "linear on the classifier's features": linear_on(classifier, problem),
    }
    for name, n_layers in TRAINED.items():
        options |= {"backbone": deepcopy(plain), "trainable": n_layers}
        learner = linear_llc(codebook=whole.codebook_, **options)
        found[name] = decoded(problem.learn(learner), problem)
    return found


def network(X: NDArray[np.float32], seed: int) -> nn.Module:
    """Return an untrained network on features."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        layers: list[nn.Module] = []
        for narrow, wide in zip((X.shape[1], *WIDTHS), WIDTHS, strict=False):
            layers += [nn.Linear(narrow, wide), nn.ReLU()]
        return nn.Sequential(*layers)


def scores_of(learner: Any, problem: Problem) -> NDArray[np.float32]:
    """Return the scores of the test items."""
    features = learner.extract(problem.X[problem.query])
    found: NDArray[np.float32] = learner.encoder_.project(features)
    return found


def decoded(learner: Any, problem: Problem) -> Metrics:
    """Return the accuracies; of classes that are equally near, each has its share."""
    codes = pack(scores_of(learner, problem) >= 0)
    book, truth = learner.codebook_of_classes(), problem.labels[problem.query]
    return accuracies(book, codes, truth, codes=codes, credit="expected")


def linear_on(learner: Any, problem: Problem) -> float:
    """Return the accuracy of a linear SVM on what the network in front gives."""
    return linear_accuracy(problem, learner.extract(problem.X), FEATURE_COSTS)
