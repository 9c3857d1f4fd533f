"""A folder of images loses none, and takes nothing for a class that is none."""

import os
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from fewbits import inputs
from fewbits.errors import ArgumentError

SUFFIXES = ".apng .bmp .gif .jfif .jpe .jpeg .jpg .pbm .pgm .png .pnm .ppm .tif .tiff"
SUFFIXES = [*SUFFIXES.split(), ".webp"]
PICTURE = Image.new("RGB", (4, 3), "red")


def fill(root, *names):
    """Make empty files."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


def found(root):
    images = inputs.read(root)
    return [f.relative_to(root).as_posix() for f in images.values], images.labels


def test_plain_classes_as_torchvision_has_them(tmp_path):
    """Classes in the order of their names, and files in that of theirs."""
    names = [f"{c}/{i}.png" for c in ("dog", "Cat", "émeu") for i in (10, 9, 1)]
    random.Random(0).shuffle(names)
    fill(tmp_path, *names, "readme.md", "dog/notes.txt")
    classes = sorted(entry.name for entry in os.scandir(tmp_path) if entry.is_dir())
    expected = [
        (f"{folder}/{name}", folder)
        for folder in classes
        for name in sorted(os.listdir(tmp_path / folder))
        if name.endswith(".png")
    ]
    files, labels = found(tmp_path)
    assert list(zip(files, labels.tolist(), strict=True)) == expected


def test_files_in_the_order_of_their_folders(tmp_path):
    """Also where the name of a folder begins with that of another."""
    fill(tmp_path, "a/2.png", "a-b/1.png", "a/b/3.png", "a.b/1.png")
    with pytest.warns(UserWarning, match="subfolders are nested"):
        files, _ = found(tmp_path)
    paths = sorted(p for p in tmp_path.rglob("*") if p.is_file())
    assert files == [p.relative_to(tmp_path).as_posix() for p in paths]


def test_a_flat_folder_has_no_labels(tmp_path):
    fill(tmp_path, "b.jpg", "a.jpg")
    assert found(tmp_path) == (["a.jpg", "b.jpg"], None)


def test_images_in_the_root_belong_to_no_class(tmp_path):
    fill(tmp_path, "cover.png", "cat/1.png")
    said = r"no labels are taken from the subfolders, as 1 image lies"
    with pytest.warns(UserWarning, match=said) as caught:
        files, labels = found(tmp_path)
    assert (files, labels) == (["cat/1.png", "cover.png"], None)
    assert [w.filename for w in caught] == [__file__]


def test_nested_classes_are_not_mixed_up(tmp_path):
    fill(tmp_path, "a/x/1.png", "b/x/1.png", "b/2.png")
    with pytest.warns(UserWarning, match="labels are their paths, such as 'a/x'$"):
        _, labels = found(tmp_path)
    assert labels.tolist() == ["a/x", "b", "b/x"]


def test_suffixes_in_any_case(tmp_path):
    names = sorted(f"a/x{suffix.upper()}" for suffix in SUFFIXES)
    fill(tmp_path, *names)
    assert found(tmp_path)[0] == names


def test_pillow_reads_every_suffix(tmp_path):
    for suffix in SUFFIXES:
        image = PICTURE.convert("1") if suffix == ".pbm" else PICTURE
        image.save(tmp_path / f"x{suffix}")
        with Image.open(tmp_path / f"x{suffix}") as read:
            assert read.size == PICTURE.size
        assert inputs.read(tmp_path / f"x{suffix}").kind == "images"


def test_junk_is_skipped_without_a_word(tmp_path):
    fill(tmp_path, "cat/1.png", "cat/._1.png", "cat/.DS_Store", "cat/Thumbs.db")
    fill(tmp_path, ".ipynb_checkpoints/1.png", "__MACOSX/cat/2.png", "cat/.git/3.png")
    fill(tmp_path, "@eaDir/cat/1.png", "._cat", "cat/.4.heic", "README", "LICENSE.txt")
    files, labels = found(tmp_path)
    assert (files, labels.tolist()) == (["cat/1.png"], ["cat"])


def test_a_hidden_folder_that_is_named_is_read(tmp_path):
    fill(tmp_path, ".photos/1.png")
    assert found(tmp_path / ".photos") == (["1.png"], None)


def test_classes_without_images_are_named(tmp_path):
    fill(tmp_path, "a/1.png", "b/1.heic", "c/2.AVIF", "c/1.heic", "d/notes.txt")
    (tmp_path / "e/f").mkdir(parents=True)
    (tmp_path / "a/empty").mkdir()
    with pytest.warns(UserWarning, match="2 more") as caught:
        files, labels = found(tmp_path)
    assert (files, labels.tolist()) == (["a/1.png"], ["a"])
    (warning,) = caught
    assert "'a/empty', 'b', 'c' and 2 more" in str(warning.message)
    assert "1 .avif, 2 .heic" in str(warning.message)


def test_nothing_that_can_be_read(tmp_path):
    fill(tmp_path, "b/1.heic", "b/2.heic")
    (tmp_path / "b/gone.png").symlink_to(tmp_path / "nowhere.png")
    said = (
        r"holds no images but formats that are not read: 2 .heic; "
        r"links that lead nowhere: 'b/gone.png'; known: \.apng, \.bmp"
    )
    with pytest.raises(ArgumentError, match=said):
        inputs.read(tmp_path)


def test_linked_folders_and_files_are_followed(tmp_path):
    fill(tmp_path, "elsewhere/cats/1.png", "elsewhere/2.png", "root/dog/1.png")
    (tmp_path / "root/cat").symlink_to(tmp_path / "elsewhere/cats")
    (tmp_path / "root/dog/2.png").symlink_to(tmp_path / "elsewhere/2.png")
    files, labels = found(tmp_path / "root")
    assert files == ["cat/1.png", "dog/1.png", "dog/2.png"]
    assert labels.tolist() == ["cat", "dog", "dog"]


def test_links_that_lead_nowhere_are_told(tmp_path):
    fill(tmp_path, "a/1.png")
    (tmp_path / "a/2.png").symlink_to(tmp_path / "gone.png")
    (tmp_path / "b").symlink_to(tmp_path / "gone")
    (tmp_path / "c").symlink_to(tmp_path / "c")
    said = r"links that lead nowhere: 'a/2.png', 'b', 'c'$"
    with pytest.warns(UserWarning, match=said):
        assert found(tmp_path)[0] == ["a/1.png"]


def test_circles_are_not_walked(tmp_path):
    fill(tmp_path, "a/1.png", "b/2.png")
    (tmp_path / "a/up").symlink_to(tmp_path)
    (tmp_path / "b/self").symlink_to(tmp_path / "b", target_is_directory=True)
    with pytest.warns(UserWarning, match="links to a folder they lie in: 'a/up', 'b/s"):
        assert found(tmp_path)[0] == ["a/1.png", "b/2.png"]


def test_two_links_to_a_folder_are_two_classes(tmp_path):
    fill(tmp_path, "elsewhere/1.png")
    for name in ("a", "b"):
        (tmp_path / "root" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "root" / name).symlink_to(tmp_path / "elsewhere")
    assert found(tmp_path / "root")[1].tolist() == ["a", "b"]


def test_folders_named_like_images(tmp_path):
    fill(tmp_path, "a.png/1.png")
    assert found(tmp_path)[1].tolist() == ["a.png"]


def test_folders_that_may_not_be_read(tmp_path, monkeypatch):
    fill(tmp_path, "a/1.png", "b/1.png")
    scandir = os.scandir

    def refused(path):
        if Path(path).name == "b":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr("os.scandir", refused)  # chmod does not stop root
    with pytest.raises(PermissionError, match=r"Permission denied: .*b"):
        inputs.read(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="names are UTF-16 there")
def test_names_that_are_not_utf_8(tmp_path):
    (tmp_path / "a").mkdir()
    try:
        (Path(os.fsdecode(os.fsencode(tmp_path / "a") + b"/\xff.png"))).touch()
    except OSError:
        pytest.skip("the file system refuses such names")
    with pytest.raises(ArgumentError, match=r"the name 'a/\\udcff.png' is not UTF-8"):
        inputs.read(tmp_path)


def test_deep_folders(tmp_path):
    deep = tmp_path / "/".join("d" * 300)
    fill(deep, "1.png")
    with pytest.warns(UserWarning, match="nested"):
        assert found(tmp_path)[1].tolist() == ["/".join("d" * 300)]


NAMES = st.sampled_from(["a", "b", "._c", "x.PNG", "y.gif", "z.heic", "n.txt", "é"])


@given(st.sets(st.lists(NAMES, min_size=1, max_size=3).map("/".join), min_size=1))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_image_once(tmp_path_factory, names):
    """Against a walk of the standard library."""
    root = tmp_path_factory.mktemp("root")
    for name in sorted(names):
        if not any(str(p) in names for p in Path(name).parents):
            fill(root, name)
    expected = sorted(
        Path(folder, file).relative_to(root)
        for folder, _, files in os.walk(root)
        for file in files
        if file in ("x.PNG", "y.gif") and "._c" not in Path(folder).parts
    )
    try:
        files, labels = found(root)
    except ArgumentError:
        files, labels = [], None
    assert [*map(Path, files)] == expected
    in_root = any(len(file.parts) == 1 for file in expected)
    assert (labels is None) == (in_root or not expected)
    if labels is not None:
        assert labels.tolist() == [str(file.parent) for file in expected]


@pytest.mark.parametrize("name", ["photo.jpg", "photo.JPEG", "photo.tif", "photo.gif"])
def test_a_single_image_is_one_item(tmp_path, name):
    PICTURE.save(tmp_path / name)
    for path in (tmp_path / name, str(tmp_path / name)):
        one = inputs.read(path)
        assert (one.kind, one.values, one.labels) == ("images", [Path(path)], None)


def test_what_is_no_single_image(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no"):
        inputs.read(tmp_path / "photo.png")
    fill(tmp_path, "photo.png")
    with pytest.raises(ArgumentError, match="has no columns, got label='y'"):
        inputs.read(tmp_path / "photo.png", label="y")


def test_labels_are_strings(tmp_path):
    fill(tmp_path, "1/a.png", "02/a.png")
    labels = inputs.read(tmp_path).labels
    assert labels.dtype.kind == "U"
    np.testing.assert_array_equal(labels, ["02", "1"])
