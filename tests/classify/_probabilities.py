"""The probabilities of all classes, in the order of the codebook."""

import numpy as np

from fewbits.classify import top_classes


def class_probabilities(book, scores, calibration=None):
    top = top_classes(book, scores, len(book) + 1, calibration)
    order = np.argsort(top.rows, axis=1)[:, -len(book) :]  # the first is no class
    return np.take_along_axis(top.probabilities, order, axis=1)
