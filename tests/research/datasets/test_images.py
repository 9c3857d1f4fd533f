"""References to images open the same pixels from anywhere, in any thread."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from fewbits.errors import ArtefactError
from research.common.datasets import ArrayImages, ImageItem
from research.common.datasets._files import list_files


def test_file_tar_and_array_agree(tmp_path, make_jpeg, make_tar):
    file = tmp_path / "a.jpg"
    file.write_bytes(make_jpeg())
    tar = make_tar(tmp_path / "t.tar", {"a.jpg": make_jpeg()})
    opened = ImageItem("file", file).open()
    assert opened.size == (9, 8)
    pixels = np.asarray(opened)
    for source in (list_files(tar)["a.jpg"], pixels):
        np.testing.assert_array_equal(ImageItem("x", source).open(), pixels)


@pytest.mark.parametrize("mode", ["w", "w:xz"])
def test_threads(tmp_path, make_jpeg, make_tar, mode):
    tar = make_tar(tmp_path / "t", {f"{i}.jpg": make_jpeg(i) for i in range(30)}, mode)
    items = [ImageItem(name, region) for name, region in list_files(tar).items()]
    alone = [np.asarray(item.open()) for item in items]
    with ThreadPoolExecutor(8) as pool:
        for images in pool.map(lambda _: [i.open() for i in items], range(8)):
            for image, expected in zip(images, alone, strict=True):
                np.testing.assert_array_equal(image, expected)


def test_damaged_image_names_the_item(tmp_path, make_jpeg):
    file = tmp_path / "bad.jpg"
    for data in (b"", b"GIF89a", make_jpeg()[:200], make_jpeg()[:-40]):
        file.write_bytes(data)
        with pytest.raises(ArtefactError, match=r"^cat/1\.jpg: cannot be read"):
            ImageItem("cat/1.jpg", file).open()
    with pytest.raises(ArtefactError, match=r"^gone: "):
        ImageItem("gone", tmp_path / "no").open()


def test_array_images():
    array = np.arange(3 * 4, dtype=np.uint8).reshape(3, 2, 2)
    images = ArrayImages(array, ["a", "b", "c"])
    assert [item.name for item in images] == ["a", "b", "c"]
    np.testing.assert_array_equal(images[-1].open(), array[2])
    assert [item.name for item in images[1:]] == ["b", "c"]
    with pytest.raises(IndexError):
        images[3]
