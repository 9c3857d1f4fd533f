"""Caltech-101 in all its forms."""

import io
import tarfile
import zipfile

import numpy as np
import pytest

from fewbits.errors import ArgumentError, ArtefactError, MissingDataError
from research.common import datasets

COUNTS = {"BACKGROUND_Google": 3, "Faces": 5, "Faces_easy": 4, "ant": 6}
TOP = "101_ObjectCategories"


@pytest.fixture
def images(make_jpeg):
    return {
        f"{TOP}/{name}/image_{i:04d}.jpg": make_jpeg(i)
        for name, count in COUNTS.items()
        for i in range(1, count + 1)
    }


@pytest.fixture
def in_lists(images):
    keys = [name.removeprefix(f"{TOP}/") for name in images]
    lists = {
        "train.txt": "\n".join([*keys[::2], "BACKGROUND_Google/tmp"]).encode(),
        "test.txt": "\n".join(keys[1::2]).encode(),
    }
    return images | lists | {f"{TOP}/BACKGROUND_Google/tmp": b"not an image"}


def check(data):
    assert len(data) == 18
    assert data.keys[0] == "BACKGROUND_Google/image_0001.jpg"
    assert list(data.keys) == sorted(data.keys)
    for name, count in COUNTS.items():
        assert (data.labels["class"] == name).sum() == count
    assert data.splits["background"].tolist() == [0, 1, 2]
    parts = np.concatenate(list(data.splits.values()))
    assert sorted(parts.tolist()) == list(range(18))
    assert data.items[5].open().size == (9, 8)


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_tar_with_lists(tmp_path, make_tar, in_lists, mode):
    files = {f"./{name}": data for name, data in in_lists.items()}
    path = make_tar(tmp_path / "caltech101.tar", files, mode)
    data = datasets.load_caltech101(tmp_path)
    check(data)
    assert data.keys[data.splits["train"][0]] == "Faces/image_0002.jpg"
    assert datasets.load_caltech101(path).keys == data.keys


@pytest.mark.parametrize("below", ["", "caltech101"])
def test_folder_with_lists(tmp_path, make_folder, in_lists, below):
    make_folder(tmp_path / below, in_lists)
    data = datasets.load_caltech101(tmp_path)
    check(data)
    assert data.keys[data.splits["train"][0]] == "Faces/image_0002.jpg"


def tar_gz(make_tar, tmp_path, files):
    path = make_tar(tmp_path / f"{TOP}.tar.gz", files, "w:gz")
    data = path.read_bytes()
    path.unlink()
    return data


def test_official_zip(tmp_path, make_tar, images):
    inner = tar_gz(make_tar, tmp_path, images | {f"{TOP}/ant/._image_0001.jpg": b"x"})
    with zipfile.ZipFile(tmp_path / "caltech-101.zip", "w") as file:
        file.writestr("caltech-101/Annotations.tar", b"")
        file.writestr(f"caltech-101/{TOP}.tar.gz", inner)
    data = datasets.load_caltech101(tmp_path, n_train=2)
    check(data)
    classes = data.labels["class"]
    for name in ("Faces", "Faces_easy", "ant"):
        assert (classes[data.splits["train"]] == name).sum() == 2
    again = datasets.load_caltech101(tmp_path, n_train=2)
    other = datasets.load_caltech101(tmp_path, n_train=2, seed=1)
    assert again.splits["train"].tolist() == data.splits["train"].tolist()
    assert other.splits["train"].tolist() != data.splits["train"].tolist()


def test_tar_gz_of_the_zip(tmp_path, make_tar, images):
    (tmp_path / "caltech-101").mkdir()
    make_tar(tmp_path / "caltech-101" / f"{TOP}.tar.gz", images, "w:gz")
    check(datasets.load_caltech101(tmp_path, n_train=3))


def test_zip_without_images(tmp_path):
    path = tmp_path / "caltech-101.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("readme", b"")
    with pytest.raises(ArtefactError, match=f"there is no {TOP}"):
        datasets.load_caltech101(tmp_path)
    path.write_bytes(path.read_bytes()[:30])
    with pytest.raises(ArtefactError, match="not a readable zip"):
        datasets.load_caltech101(tmp_path)


def test_too_few_to_train(tmp_path, make_tar, in_lists):
    make_tar(tmp_path / "caltech101.tar", in_lists)
    with pytest.raises(ArgumentError, match="n_train"):
        datasets.load_caltech101(tmp_path, n_train=0)


def test_lists_that_do_not_fit(tmp_path, make_tar, in_lists):
    in_lists["train.txt"] += b"\nant/image_0099.jpg"
    make_tar(tmp_path / "caltech101.tar", in_lists)
    with pytest.raises(ArtefactError, match=r"train.txt names ant/image_0099.jpg"):
        datasets.load_caltech101(tmp_path)


def test_nothing_there(tmp_path):
    with pytest.raises(MissingDataError, match="research get caltech101"):
        datasets.load_caltech101()
    with tarfile.open(tmp_path / "caltech101.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo("empty"), io.BytesIO())
    with pytest.raises(ArtefactError, match=r"there is no CLASS/NAME.jpg"):
        datasets.load_caltech101(tmp_path)
