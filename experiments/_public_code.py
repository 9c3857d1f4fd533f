"""What public code reaches on the same frozen features, as a scale to compare with.

Measured for this project by running the code named below, not by us in `experiments`:
EfficientNet-Lite0's features, standardised, a linear head, Adam, batches of 64, rates
chosen on a part of the training items, and the epoch, too; mAP with expected ties,
divided by what can be found. Three seeds, one fixed split. The losses are those of
DeepHash-pytorch (swuxyj) and OrthoHash (kamwoh); "D alone" is modfire's CSQ_D
(VL-Group), whose posterior takes the place of CSQ's targets.
"""

from experiments._summary import decimal, shown

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
        "D alone": (0.500, 0.704, 0.798),
    },
    "cifar10": {
        "hashnet": (0.472, 0.549, 0.580),
        "dbdh": (0.477, 0.472, 0.458),
        "dsdh": (None, 0.468, None),
        "dch": (0.463, 0.508, 0.507),
        "greedyhash": (0.491, 0.514, 0.515),
        "csq": (0.532, 0.553, 0.565),
        "orthohash": (0.433, 0.475, 0.509),
        "D alone": (None, 0.523, None),
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
#: Stands beside codes that classes share, as it has them, and beside repaired ones.
SVD = {10: (0.555, 0.393), 14: (0.699, 0.455), 20: (0.767, 0.370)}
CCA = {10: (0.579, 0.399), 14: (0.664, 0.420), 20: (0.763, 0.424)}
#: LLC on Caltech-101, 100 classes, by length: accuracy of the nearest code, and of
#: exact decoding. The first codebook is the repository's own recipe; "LLC" has Adam
#: and a learning rate of its own, "LLC from SVD" is warm-started.
CODES: dict[str, dict[str, dict[int, tuple[float, float]]]] = {
    "caltech101": {
        "LLC, published rate": {
            10: (0.513, 0.362),
            14: (0.627, 0.298),
            20: (0.714, 0.245),
        },
        "random": {10: (0.523, 0.362), 14: (0.610, 0.294), 20: (0.724, 0.252)},
        "SVD": SVD,
        "CCA": CCA,
        "SVD, as it is": SVD,
        "CCA, as it is": CCA,
        "LLC": {10: (0.601, 0.431), 14: (0.698, 0.357), 20: (0.770, 0.281)},
        "LLC from SVD": {10: (0.653, 0.484), 14: (0.730, 0.386), 20: (0.784, 0.296)},
    },
}


def pair(ours: tuple[float, float, int] | None, theirs: float | None) -> str:
    """Return public code's figure and ours beside it, in bold where it is below."""
    if theirs is None:
        return "" if ours is None else f"- / {shown(*ours[:2])}"
    if ours is None:
        return f"{decimal(theirs, 3)} / -"
    text = shown(*ours[:2])
    return f"{decimal(theirs, 3)} / {f'**{text}**' if ours[0] < theirs else text}"
