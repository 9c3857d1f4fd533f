"""Colours of classes: told apart in light and dark, also by readers who lack a cone."""

import re
from itertools import combinations

import numpy as np
import pytest

from tests.explorer.test_assets import FOLDER

#: Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of
#: Color Vision Deficiency", IEEE TVCG 15, 2009: the whole deficiency, on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
#: Ottosson, "A perceptual color space for image processing" (OKLab), 2020.
CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
OKLAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]


def colours(name):
    """Return linear RGB of a colour in light and in dark."""
    style = (FOLDER / "style/base.css").read_text("utf-8")
    found = re.search(rf"--{name}: light-dark\((#\w+), (#\w+)\)", style)
    values = [
        [int(each[i : i + 2], 16) / 255 for i in (1, 3, 5)] for each in found.groups()
    ]
    values = np.array(values)
    return np.where(
        values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4
    )


CLASSES = np.array([colours(f"class-{i}") for i in range(10)])


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_classes_differ(vision, theme):
    rgb = np.vstack([CLASSES[:, theme], colours("class-rest")[theme]])
    seen = (rgb @ np.transpose(VISION[vision])).clip(0, 1)
    lab = np.cbrt(seen @ np.transpose(CONES)) @ np.transpose(OKLAB)
    apart = {
        (i, j): np.linalg.norm(lab[i] - lab[j]) for i, j in combinations(range(11), 2)
    }
    assert min(apart.values()) > 0.07, min(apart, key=apart.get)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_classes_stand_out_from_the_card(theme):
    weights = [0.2126, 0.7152, 0.0722]
    light = CLASSES[:, theme] @ weights
    card = colours("card")[theme] @ weights
    ratio = (np.maximum(light, card) + 0.05) / (np.minimum(light, card) + 0.05)
    assert ratio.min() >= 3  # WCAG 2.2, 1.4.11


def test_pages_have_the_same_colours(tmp_path):
    from fewbits.report import Drawing

    Drawing(1, 1, "nothing", ()).save(tmp_path / "x.svg")
    drawing = (tmp_path / "x.svg").read_text("utf-8")
    style = (FOLDER / "style/base.css").read_text("utf-8")
    for i in range(10):
        pair = re.search(rf"--class-{i}: light-dark\((#\w+), (#\w+)\)", style).groups()
        assert tuple(re.findall(rf"--class-{i}: (#\w+);", drawing)) == pair
