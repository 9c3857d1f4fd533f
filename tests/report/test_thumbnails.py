"""Thumbnails show what backbones see."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from fewbits.errors import FeatureError
from fewbits.report._thumbnails import thumbnail

PICTURE = np.random.default_rng(0).integers(0, 256, (12, 20, 3), dtype=np.uint8)


def shown(item):
    data, _ = thumbnail(item)
    return Image.open(io.BytesIO(base64.b64decode(data.partition(",")[2])))


def test_turned_once(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(PICTURE).save(tmp_path / "x.png", exif=exif)
    found = shown(tmp_path / "x.png")
    np.testing.assert_array_equal(found, np.rot90(PICTURE, -1))
    assert 0x0112 not in found.getexif()


def test_floats_are_not_black():
    np.testing.assert_array_equal(shown(PICTURE / 255), PICTURE)
    with pytest.raises(FeatureError, match="floats must be from 0"):
        thumbnail(PICTURE.astype(float))
