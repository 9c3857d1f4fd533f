"""Section 4.4: what has to be trained for the codes of classes.

A small network on frozen features takes the place of the paper's ResNet50. It is
trained by LLC; a linear classifier on what it gives shows what the codes leave. The
other way round, a network that was trained to classify learns to give the same codes:
with its projection only, with its last layer, and whole. Of every training the epoch is
kept that classifies held-out items best.
"""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn

from fewbits.codes import pack
from fewbits.decoding import Codebook
from fewbits.learners.deep import DeepHash
from fewbits.learners.deep.codebooks import unique
from fewbits.learners.deep.losses._llc import ClassLoss, CodebookLoss
from research.common.class_codes import CODEBOOK_EPOCHS, llc
from research.common.decoders import FEATURE_COSTS, accuracies, linear_accuracy
from research.common.problems import Problem, load_problem
from research.core.record import Metrics, Settings
from research.studies.llc.codebooks import usual_bits

WIDTHS, N_ITER = (256, 128), 50
#: How many of the last layers of the classifier's network are trained along.
TRAINED: dict[str, int | None] = {"projection": 0, "last layer": 1, "all layers": None}


class Classifier(DeepHash):
    """A network whose epochs are judged as LLC's are: by accuracy, not by signs."""

    def _train(
        self, problem: Any, network: Any, loss: Any, *rest: Any, **options: Any
    ) -> Any:
        options["classify"] = getattr(loss, "classify", lambda scores: scores)
        return super()._train(problem, network, loss, *rest, **options)


class PhaseOne(Classifier):
    """Phase 1 of LLC by itself: with the same seed its network and codebook."""

    def _network(self, *sizes: Any, **options: Any) -> Any:
        return super()._network(*sizes, **options, bias=False)

    def codebook_of_classes(self) -> Codebook:
        codes = unique(self.classifier_).codes
        return Codebook(pack(codes > 0), self.n_bits, self.classes_)


class PhaseOneLoss(CodebookLoss):
    """Eq. (2), which hands out its codebook, not yet of signs."""

    @property
    def classifier(self) -> Tensor:
        return self.C.detach()


def cells(data: str) -> list[tuple[int, str]]:
    """Return bits and methods."""
    return [(usual_bits(data), "LLC")]


def measure(settings: Settings) -> Metrics:
    """Return the accuracies of every way to train."""
    n_bits, seed = settings["bits"], settings["seed"]
    raw = load_problem(settings["data"], seed)
    X = StandardScaler().fit(raw.X[raw.train]).transform(raw.X)
    problem = replace(raw, X=X)
    # What is trained of a network learns as fast as the head, whatever it knows.
    options = {"n_iter": N_ITER, "backbone_rate": 1.0, "random_state": seed}
    new = llc(n_bits, backbone=network(X, seed), **options)
    whole, plain = problem.learn(new), network(X, seed)
    n_classes = len(problem.classes)
    classes = Classifier(n_classes, loss=ClassLoss(), backbone=plain, **options)
    classifier = problem.learn(classes)
    book = whole.codebook_of_classes()
    found: dict[str, Any] = {
        "phases": phases(problem, n_bits, seed),
        "trained for codes": decoded(whole, book, problem),
        "linear on its features": linear_on(whole, problem),
        "classifier": classified(classifier, problem),
        "linear on the classifier's features": linear_on(classifier, problem),
    }
    for name, n_layers in TRAINED.items():
        front = {"backbone": deepcopy(plain), "trainable": n_layers}
        learner = llc(codebook=whole.codebook_, **front, **options)
        found[name] = decoded(problem.learn(learner), book, problem)
    return found


def network(X: NDArray[np.float32], seed: int) -> nn.Module:
    """Return an untrained network on features."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        layers: list[nn.Module] = []
        width = X.shape[1]
        for wider in WIDTHS:
            layers += [nn.Linear(width, wider), nn.ReLU()]
            width = wider
        return nn.Sequential(*layers)


def phases(problem: Problem, bits: int, seed: int) -> Metrics:
    """Return the accuracies after phase 1 and after phase 2, with a linear head."""
    one = PhaseOne(bits, loss=PhaseOneLoss(), n_iter=CODEBOOK_EPOCHS, random_state=seed)
    both = {"1": one, "2": llc(bits, n_iter=N_ITER, random_state=seed)}
    return {
        name: decoded(learner, learner.codebook_of_classes(), problem)
        for name, learner in ((n, problem.learn(each)) for n, each in both.items())
    }


def scores_of(learner: Any, problem: Problem) -> NDArray[np.float32]:
    """Return the scores of the test items."""
    features = learner.extract(problem.X[problem.query])
    found: NDArray[np.float32] = learner.encoder_.project(features)
    return found


def decoded(learner: Any, book: Codebook, problem: Problem) -> Metrics:
    """Return the accuracies; of classes that are equally near, each has its share."""
    codes = pack(scores_of(learner, problem) >= 0)
    truth = problem.labels[problem.query]
    return accuracies(book, codes, truth, codes=codes, credit="expected")


def classified(learner: Any, problem: Problem) -> float:
    """Return the accuracy of the largest score."""
    found = learner.classes_[scores_of(learner, problem).argmax(axis=1)]
    return float(np.mean(found == problem.labels[problem.query]))


def linear_on(learner: Any, problem: Problem) -> float:
    """Return the accuracy of a linear SVM on what the network in front gives."""
    return linear_accuracy(problem, learner.extract(problem.X), FEATURE_COSTS)
