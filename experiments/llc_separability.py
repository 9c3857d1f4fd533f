"""What must be trained for LLC: ablations of section 4.4, with a network in place.

    python -m experiments.llc_separability --data caltech101

A small network on frozen features takes the place of the paper's ResNet50. It is
trained by LLC; a linear classifier on what it gives then shows what the codes leave.
The other way round, a network that was trained to classify learns to give the codes
that the first one learnt: with its projection only, with its last layer, and whole.
Beside them stand the codes after phase 1 and after phase 2, with a linear head. Of
every training the epoch is kept that classifies items held out best.
"""

from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
import torch
import typer
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn

from experiments._cells import Cell, Cells
from experiments._llc_problems import ClassProblem, load_classes
from experiments._options import Data, Seeds
from experiments.llc import linear_accuracy
from fewbits.classify import Codebook, decode_exact, decode_nearest
from fewbits.codes import pack
from fewbits.evaluation import decoding_accuracy
from fewbits.learners.deep import LLC, DeepHash
from fewbits.learners.deep.codebooks import unique
from fewbits.learners.deep.losses._llc import ClassLoss, CodebookLoss
from research.common.settings import configured

WIDTHS = (256, 128)
N_ITER, CODEBOOK_EPOCHS = 50, 50
#: How many of the last layers of the classifier's network are trained along.
TRAINED: dict[str, int | None] = {"projection": 0, "last layer": 1, "all layers": None}
COSTS = (0.3, 1.0, 3.0, 10.0)


class Classifier(DeepHash):
    """A network whose epochs are judged as LLC's are: by accuracy, not by signs."""

    def _train(
        self, problem: Any, network: Any, loss: Any, *rest: Any, **options: Any
    ) -> Any:
        options["classify"] = getattr(loss, "classify", lambda scores: scores)
        return super()._train(problem, network, loss, *rest, **options)


class PhaseOne(Classifier):
    """Phase 1 of LLC by itself: with the same seed its network and codebook."""

    def codebook_of_classes(self) -> Codebook:
        codes = unique(self.classifier_).codes
        return Codebook(pack(codes > 0), self.n_bits, self.classes_)


class PhaseOneLoss(CodebookLoss):
    """Eq. (2), which hands out its codebook, not yet of signs."""

    @property
    def classifier(self) -> Tensor:
        return self.C.detach()


def main(data: Data, seeds: Seeds = 3) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("llc_separability")
    for name in data:
        for seed in range(seeds):
            problem = load_classes(name, seed)
            bits = 2 * (problem.n_classes - 1).bit_length()
            cell = {"data": name, "bits": bits, "method": "LLC", "seed": seed}
            cells.measure(cell, partial(figures, problem, bits, seed))


def figures(problem: ClassProblem, bits: int, seed: int) -> Cell:
    """Return the accuracies of every way to train."""
    X = StandardScaler().fit(problem.X[problem.train]).transform(problem.X)
    problem = ClassProblem(X, problem.y, problem.train, problem.test)
    # What is trained of a network learns as fast as the head, whatever it knows.
    options = {"max_epochs": N_ITER, "backbone_rate": 1.0, "random_state": seed}
    code = {"bias": False, **options}  # as in the paper
    new = {"backbone": network(X, seed), "codebook_epochs": CODEBOOK_EPOCHS}
    whole = learn(configured(LLC, bits, **new, **code), problem)
    book = whole.codebook_of_classes()
    plain = network(X, seed)
    classes = configured(
        Classifier,
        problem.n_classes,
        loss=ClassLoss(),
        backbone=plain,
        **options,
    )
    classifier = learn(classes, problem)
    found: Cell = {
        "phases": phases(problem, bits, seed),
        "trained for codes": accuracies(whole, book, problem),
        "linear on its features": linear_on(whole, problem),
        "classifier": classified(classifier, problem),
        "linear on the classifier's features": linear_on(classifier, problem),
    }
    for name, n_layers in TRAINED.items():
        learner = configured(
            LLC,
            codebook=whole.codebook_,
            backbone=deepcopy(plain),
            trainable=n_layers,
            **code,
        )
        found[name] = accuracies(learn(learner, problem), book, problem)
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


def learn(learner: Any, problem: ClassProblem) -> Any:
    """Train on the training items."""
    return learner.fit(problem.X[problem.train], problem.y[problem.train])


def phases(problem: ClassProblem, bits: int, seed: int) -> Cell:
    """Return the accuracies after phase 1 and after phase 2, with a linear head."""
    both = {
        "1": configured(
            PhaseOne,
            bits,
            loss=PhaseOneLoss(),
            max_epochs=CODEBOOK_EPOCHS,
            bias=False,
            random_state=seed,
        ),
        "2": configured(
            LLC,
            bits,
            codebook_epochs=CODEBOOK_EPOCHS,
            max_epochs=N_ITER,
            bias=False,
            random_state=seed,
        ),
    }
    for learner in both.values():
        learn(learner, problem)
    return {
        name: accuracies(learner, learner.codebook_of_classes(), problem)
        for name, learner in both.items()
    }


def scores_of(learner: Any, problem: ClassProblem) -> NDArray[np.float32]:
    """Return the scores of the test items."""
    features = learner.extract(problem.X[problem.test])
    found: NDArray[np.float32] = learner.encoder_.project(features)
    return found


def accuracies(learner: Any, book: Codebook, problem: ClassProblem) -> Cell:
    """Return how often codes are those of the class: exactly, or nearest to it.

    Of classes that are equally near, each has its share.
    """
    codes = pack(scores_of(learner, problem) >= 0)
    truth = problem.y[problem.test]
    exact, nearest = decode_exact(book, codes), decode_nearest(book, codes)
    near = decoding_accuracy(book, nearest, truth, codes=codes, credit="expected")
    return {
        "exact": float(decoding_accuracy(book, exact, truth).value),
        "nearest": float(near.value),
    }


def classified(learner: Any, problem: ClassProblem) -> float:
    """Return the accuracy of the largest score."""
    found = learner.classes_[scores_of(learner, problem).argmax(axis=1)]
    return float(np.mean(found == problem.y[problem.test]))


def linear_on(learner: Any, problem: ClassProblem) -> float:
    """Return the accuracy of a linear SVM on what the network in front gives."""
    return linear_accuracy(problem, learner.extract(problem.X), COSTS)


if __name__ == "__main__":
    typer.run(main)
