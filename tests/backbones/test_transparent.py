"""What is transparent is seen on white, whatever colours a file hides there."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image, ImageDraw

from fewbits import backbones
from fewbits.errors import FeatureError

SIDE = 24


def drawing(shape, mode="RGBA", hidden=(0, 0, 0)):
    """Return a dark figure on a transparent ground that hides a colour."""
    image = Image.new("RGBA", (SIDE, SIDE), (*hidden, 0))
    getattr(ImageDraw.Draw(image), shape)((4, 6, 18, 20), fill=(0, 0, 0, 255))
    return image.convert(mode)


def on_white(shape):
    image = Image.new("RGB", (SIDE, SIDE), "white")
    getattr(ImageDraw.Draw(image), shape)((4, 6, 18, 20), fill="black")
    return np.asarray(image)


def pixels(item, side=SIDE):
    return backbones.pixels([item], side)[0].transpose(1, 2, 0)


def palette(shape):
    """Return the figure as a palette whose colour 7 is transparent, and black."""
    numbers = np.where(on_white(shape)[:, :, 0] == 0, 3, 7).astype(np.uint8)
    image = Image.fromarray(numbers, "P")
    image.putpalette([0] * 3 * 8)
    image.info["transparency"] = 7
    return image


@pytest.mark.parametrize("shape", ["rectangle", "ellipse"])
@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        ("PNG", "RGBA"),
        ("PNG", "LA"),
        ("PNG", "P"),
        ("GIF", "P"),
        ("WEBP", "RGBA"),
        ("TIFF", "RGBA"),
        ("ICO", "RGBA"),
    ],
)
def test_drawings_are_seen_as_a_viewer_shows_them(tmp_path, shape, kind, mode):
    image = palette(shape) if mode == "P" else drawing(shape, mode)
    options = {"lossless": True, "exact": True} if kind == "WEBP" else {}
    if kind == "ICO":
        options["sizes"] = [(SIDE, SIDE)]
    image.save(tmp_path / "x", kind, **options)
    np.testing.assert_array_equal(pixels(tmp_path / "x"), on_white(shape))
    np.testing.assert_array_equal(pixels(image), on_white(shape))
    with Image.open(tmp_path / "x") as opened:
        for _ in range(2):
            np.testing.assert_array_equal(pixels(opened), on_white(shape))


@pytest.mark.parametrize("kind", ["PNG", "GIF", "WEBP"])
def test_animated_drawings(tmp_path, kind):
    frames = [drawing("rectangle"), drawing("ellipse")]
    options = {"lossless": True} if kind == "WEBP" else {}
    frames[0].save(
        tmp_path / "x", kind, save_all=True, append_images=frames[1:], **options
    )
    np.testing.assert_array_equal(pixels(tmp_path / "x"), on_white("rectangle"))


@pytest.mark.parametrize("mode", ["La", "RGBa", "PA"])
def test_modes_in_memory(mode):
    image = palette("ellipse") if mode == "PA" else drawing("ellipse")
    image = image.convert("LA").convert(mode) if mode == "La" else image.convert(mode)
    np.testing.assert_array_equal(pixels(image), on_white("ellipse"))


def test_a_palette_with_alpha():
    image = Image.fromarray(np.array([[0, 1]], np.uint8), "P")
    image.putpalette([9, 9, 9, 0, 200, 100, 0, 255], "RGBA")
    assert pixels(image.resize((2, 2)), 2)[0].tolist() == [[255] * 3, [200, 100, 0]]


def test_hidden_colours_do_not_count():
    plain, red = (
        drawing("ellipse", hidden=colour) for colour in [(0, 0, 0), (255, 0, 0)]
    )
    np.testing.assert_array_equal(pixels(red), pixels(plain))


def test_half_transparent_is_mixed():
    image = Image.new("RGBA", (4, 4), (0, 100, 200, 128))
    mixed = (np.array([0, 100, 200]) * 128 + 255 * 127) / 255
    np.testing.assert_allclose(pixels(image, 4)[0, 0], mixed, rtol=0, atol=1)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.uint16, np.int64])
def test_arrays_of_four_channels(dtype):
    array = np.asarray(drawing("ellipse", hidden=(0, 0, 9)))
    scaled = {
        np.float32: array.astype(np.float32) / 255,
        np.uint16: array.astype(np.uint16) * 257,
    }
    array = scaled.get(dtype, array.astype(dtype))
    np.testing.assert_array_equal(pixels(array), on_white("ellipse"))


@pytest.mark.parametrize("dtype", [np.uint8, np.int64])
def test_alpha_of_zeros_and_ones_is_refused(dtype):
    array = np.asarray(drawing("ellipse", hidden=(0, 0, 9))).astype(dtype)
    array[:, :, 3] //= 255
    with pytest.raises(FeatureError, match="alpha goes from 0 to 255"):
        pixels(array)


def test_opaque_pictures_are_what_they_were():
    array = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), np.uint8)
    for mode in ("RGBA", "RGBa"):
        opaque = Image.fromarray(array).convert("RGBA").convert(mode)
        np.testing.assert_array_equal(pixels(opaque), array)


def png(depth, kind, rows, transparent):
    """Return a PNG file with a transparent colour, which Pillow cannot write."""

    def chunk(name, data):
        code = struct.pack(">I", zlib.crc32(name + data))
        return struct.pack(">I", len(data)) + name + data + code

    head = struct.pack(">IIBBBBB", 4, len(rows), depth, kind, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    return io.BytesIO(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"tRNS", transparent)
        + chunk(b"IDAT", data)
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("depth", "kind", "row", "transparent", "shown"),
    [
        (1, 0, b"\x50", b"\0\0", [255, 255, 255, 255]),
        (2, 0, b"\x1b", b"\0\1", [0, 255, 170, 255]),
        (4, 0, b"\x01\x23", b"\0\0", [255, 17, 34, 51]),
        (8, 0, b"\0\1\2\3", b"\0\1", [0, 255, 2, 3]),
        (16, 0, b"\0\0\0\1\1\0\2\0", b"\0\1", [0, 255, 1, 2]),
        (8, 2, b"\0\0\0\1\1\1" * 2, b"\0\0" * 3, [255, 1, 255, 1]),
        (16, 2, b"\7\0" * 3 + b"\2\0" * 9, b"\7\0" * 3, [255, 2, 2, 2]),
    ],
)
def test_one_colour_of_a_file_is_transparent(depth, kind, row, transparent, shown):
    image = Image.open(png(depth, kind, [row] * 4, transparent))
    for _ in range(2):
        assert pixels(image, 4)[0, :, 0].tolist() == shown


@pytest.mark.parametrize(
    ("depth", "kind", "row", "transparent"),
    [
        (2, 0, b"\x1b", b"\0\1"),
        (4, 0, b"\x01\x23", b"\0\1"),
        (8, 0, b"\0\1\2\3", b"\0\1"),
        (16, 2, b"\7\0" * 3 + b"\2\0" * 9, b"\7\0" * 3),
    ],
)
def test_loading_an_image_changes_nothing(depth, kind, row, transparent, tmp_path):
    path, file = tmp_path / "x.png", png(depth, kind, [row] * 4, transparent)
    path.write_bytes(file.getvalue())
    loaded, nameless = Image.open(path), Image.open(file)
    loaded.load()
    nameless.load()
    expected = pixels(path, 4)
    for _ in range(2):
        np.testing.assert_array_equal(pixels(loaded, 4), expected)
    if depth < 8:
        with pytest.raises(FeatureError, match="give its path"):
            pixels(nameless, 4)
    else:
        np.testing.assert_array_equal(pixels(nameless, 4), expected)


def test_around_the_frame_of_a_gif_is_nothing(tmp_path):
    Image.new("P", (2, 2)).save(tmp_path / "x.gif")
    content = bytearray((tmp_path / "x.gif").read_bytes())
    content[6:10] = struct.pack("<HH", 4, 4)  # the canvas
    (tmp_path / "x.gif").write_bytes(content)
    shown = pixels(tmp_path / "x.gif", 4)[:, :, 0]
    assert (shown[:2, :2] == 0).all()
    assert (shown[2:] == 255).all()
    assert (shown[:, 2:] == 255).all()


def test_a_bmp_whose_fourth_byte_is_empty_is_opaque(tmp_path):
    empty = Image.new("RGBA", (4, 4), (1, 2, 3, 0))
    empty.save(tmp_path / "x.bmp")
    assert pixels(tmp_path / "x.bmp", 4)[0, 0].tolist() == [1, 2, 3]
