"""What public code reaches on the same frozen features, as a scale to compare with.

Measured for this project by running the code named below, not by us in `experiments`:
EfficientNet-Lite0's features, standardised, a linear head, Adam, batches of 64, rates
chosen on a part of the training items, and the epoch, too; mAP with expected ties,
divided by what can be found. Three seeds, one fixed split. The losses are those of
DeepHash-pytorch (swuxyj) and OrthoHash (kamwoh); "csq + D" is modfire's (VL-Group).
"""

#: By set of features and loss: mAP at 16, 32 and 64 bits, None where nobody measured.
LINEAR: dict[str, dict[str, tuple[float | None, ...]]] = {
    "caltech101": {
        "hashnet": (0.585, 0.746, 0.787),
        "dbdh": (0.297, 0.441, 0.661),
        "dsdh": (0.261, 0.443, 0.659),
        "dch": (0.620, 0.738, 0.764),
        "greedyhash": (0.570, 0.713, 0.779),
        "csq": (0.562, 0.733, 0.823),
        "orthohash": (0.486, 0.671, 0.762),
        "csq + D": (0.500, 0.704, 0.798),
    },
    "cifar10": {
        "hashnet": (0.472, 0.549, 0.580),
        "dbdh": (0.477, 0.472, 0.458),
        "dsdh": (None, 0.468, None),
        "dch": (0.463, 0.508, 0.507),
        "greedyhash": (0.491, 0.514, 0.515),
        "csq": (0.532, 0.553, 0.565),
        "orthohash": (0.433, 0.475, 0.509),
        "csq + D": (None, 0.523, None),
    },
}
#: With a hidden layer of 1,024, Caltech-101, 32 bits, one seed.
MLP: dict[str, dict[str, tuple[float | None, ...]]] = {
    "caltech101": {
        "dch": (None, 0.864, None),
        "csq": (None, 0.843, None),
        "greedyhash": (None, 0.830, None),
        "orthohash": (None, 0.812, None),
    },
}
BY_HEAD = {"linear": LINEAR, "mlp": MLP}
#: References that need no deep code, Caltech-101 and CIFAR-10.
REFERENCES: dict[str, dict[str, tuple[float | None, ...]]] = {
    "caltech101": {
        "CCA-ITQ": (0.412, 0.600, 0.792),
        "ITQ": (0.355, 0.562, 0.639),
        "PCA, random rotation": (0.314, 0.488, 0.580),
    },
    "cifar10": {
        "CCA-ITQ": (0.533, 0.559, None),
        "ITQ": (0.261, 0.265, 0.271),
        "PCA, random rotation": (0.230, 0.235, 0.245),
    },
}
#: mAP without a length.
WHOLE = {
    "caltech101": {
        "code of the predicted class": 0.802,
        "cosine of features": 0.672,
        "cosine of class probabilities": 0.856,
    },
    "cifar10": {
        "code of the predicted class": 0.482,
        "cosine of features": 0.293,
        "cosine of class probabilities": 0.595,
    },
}
