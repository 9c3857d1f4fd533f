"""Images are upright and neither black nor white by mistake, or refused."""

import io
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image, ImageOps

from fewbits import backbones
from fewbits._images import open_rgb, to_bytes
from fewbits.backbones import OnnxImages
from fewbits.errors import FeatureError

PICTURE = np.random.default_rng(0).integers(0, 256, (12, 20, 3), dtype=np.uint8)
GREY = np.arange(0, 240, dtype=np.uint8).reshape(12, 20)
FORMATS = {"JPEG": {}, "PNG": {}, "WEBP": {"lossless": True}, "TIFF": {}}

# What the EXIF standard says of row 0 and column 0, with NumPy.
TURNED = {
    1: lambda x: x,
    2: lambda x: x[:, ::-1],
    3: lambda x: x[::-1, ::-1],
    4: lambda x: x[::-1],
    5: lambda x: x.swapaxes(0, 1),
    6: lambda x: np.rot90(x, -1),
    7: lambda x: np.rot90(x, 2).swapaxes(0, 1),
    8: lambda x: np.rot90(x),
}


def pixels(item):
    return np.asarray(open_rgb(item))


def saved(path, array, kind, orientation=None, **options):
    exif = Image.Exif()
    if orientation is not None:
        exif[0x0112] = orientation
        options["exif"] = exif
    Image.fromarray(array).save(path, kind, **FORMATS.get(kind, {}), **options)
    return path


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("orientation", TURNED)
def test_images_are_upright(tmp_path, kind, orientation):
    plain = saved(tmp_path / "plain", PICTURE, kind)
    tagged = saved(tmp_path / "tagged", PICTURE, kind, orientation)
    expected = TURNED[orientation](np.asarray(Image.open(plain)))
    np.testing.assert_array_equal(pixels(tagged), expected)
    with Image.open(tagged) as image:
        np.testing.assert_array_equal(pixels(image), expected)
        if kind != "TIFF":  # which Pillow 10.0 turns twice
            np.testing.assert_array_equal(ImageOps.exif_transpose(image), expected)
    square = backbones.pixels([tagged], 8)
    upright = backbones.pixels([np.ascontiguousarray(expected)], 8)
    np.testing.assert_array_equal(square, upright)


def test_features_are_those_of_the_upright_picture(tmp_path, network):
    upright = saved(tmp_path / "upright.png", np.rot90(PICTURE, -1), "PNG")
    turned = saved(tmp_path / "turned.png", PICTURE, "PNG", 6)
    reference = SimpleNamespace(open=lambda: Image.open(turned))
    items = [upright, turned, reference, Image.open(turned)]
    first, *others = OnnxImages(network).extract(items)
    for other in others:
        np.testing.assert_array_equal(other, first)


MODES = ["L", "LA", "P", "RGBA", "I;16", "I", "F", "CMYK"]


@pytest.mark.parametrize(
    ("kind", "mode"), [("TIFF", m) for m in MODES] + [("PNG", m) for m in MODES[:5]]
)
@pytest.mark.parametrize("orientation", [3, 8])
def test_other_modes_are_turned(tmp_path, kind, mode, orientation):
    image = Image.fromarray(GREY).convert(mode if mode[0] not in "IF" else "L")
    wide = {"I;16": (GREY.astype(np.uint16) * 257), "I": GREY.astype(np.int32)}
    wide["F"] = (GREY / 255).astype(np.float32)
    if mode in wide:
        image = Image.fromarray(wide[mode])
    image.save(tmp_path / "x", kind, exif=_exif(orientation))
    expected = TURNED[orientation](np.dstack([GREY] * 3))
    np.testing.assert_array_equal(pixels(tmp_path / "x"), expected)
    with Image.open(tmp_path / "x") as opened:
        np.testing.assert_array_equal(pixels(opened), expected)
        assert opened.filename == str(tmp_path / "x")


def _exif(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


@pytest.mark.parametrize("orientation", [0, 9, 65535])
def test_unknown_orientations_are_none(tmp_path, orientation):
    path = saved(tmp_path / "x.png", PICTURE, "PNG", orientation)
    np.testing.assert_array_equal(pixels(path), PICTURE)


def test_every_damage_of_exif_leaves_an_image(tmp_path):
    exif = _exif(6).tobytes()
    whole = TURNED[6](PICTURE)
    for place in range(len(exif)):
        for damaged in (
            exif[:place],
            exif[:place] + bytes([exif[place] ^ 0xFF]) + exif[place + 1 :],
        ):
            path = tmp_path / "x.png"
            Image.fromarray(PICTURE).save(path, exif=damaged)
            assert pixels(path).shape in (PICTURE.shape, whole.shape)


def test_an_image_that_is_passed_in_stays_as_it_is(tmp_path):
    with Image.open(saved(tmp_path / "x.png", PICTURE, "PNG", 6)) as image:
        first, second = pixels(image), pixels(image)
        np.testing.assert_array_equal(first, second)
        np.testing.assert_array_equal(image, PICTURE)
        assert image.getexif()[0x0112] == 6


def test_what_is_opened_is_not_turned_again(tmp_path):
    opened = open_rgb(saved(tmp_path / "x.png", PICTURE, "PNG", 6))
    file = io.BytesIO()
    opened.save(file, "PNG")
    np.testing.assert_array_equal(pixels(Image.open(file)), TURNED[6](PICTURE))


BYTES = [np.int8, np.int16, np.int32, np.int64, np.uint32, np.uint64, ">i4"]
FLOATS = [np.float16, np.float32, np.float64, np.longdouble, ">f4"]


@pytest.mark.parametrize("dtype", BYTES)
def test_whole_numbers_are_bytes(dtype):
    picture = PICTURE // 2  # int8 goes no further
    np.testing.assert_array_equal(pixels(picture.astype(dtype)), picture)


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_are_from_0_to_1(dtype):
    """Every byte divided by 255 is that byte again."""
    np.testing.assert_array_equal(pixels((PICTURE / 255).astype(dtype)), PICTURE)


def test_bfloat16_is_what_it_holds():
    coarse = (PICTURE / 255).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(pixels(coarse), pixels(coarse.astype(np.float32)))


@pytest.mark.parametrize("dtype", [np.uint16, ">u2"])
def test_sixteen_bits_are_scaled(dtype):
    deep = (PICTURE.astype(np.uint16) * 257).astype(dtype)
    np.testing.assert_array_equal(pixels(deep), PICTURE)


def test_booleans_are_black_and_white():
    mask = PICTURE[:, :, 0] > 100
    expected = np.where(mask, 255, 0)
    np.testing.assert_array_equal(pixels(mask)[:, :, 1], expected)
    np.testing.assert_array_equal(pixels(mask), pixels(Image.fromarray(mask)))


def test_grey_has_one_channel_or_none():
    np.testing.assert_array_equal(pixels(GREY[:, :, None]), pixels(GREY))
    np.testing.assert_array_equal(pixels(GREY)[:, :, 2], GREY)


def test_strides_do_not_matter():
    np.testing.assert_array_equal(pixels(PICTURE[::-2, ::3]), PICTURE[::-2, ::3])
    fortran = np.asfortranarray(PICTURE)
    np.testing.assert_array_equal(pixels(fortran), PICTURE)


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.zeros((3, 5, 6), np.uint8), r"\(3, 5, 6\); channels come last"),
        (np.zeros((7, 5, 6, 3), np.uint8), "; pass the images one by one"),
        (np.zeros((0, 4), np.uint8), r"arrays must be .* got \(0, 4\)"),
        (np.zeros(4, np.uint8), r"arrays must be .* got \(4,\)"),
        (np.array(3, np.uint8), r"arrays must be .* got \(\)"),
        (np.full((4, 4), 1.5), r"0 \(black\) to 1 \(white\), got float64 from 1.5 to"),
        (np.full((4, 4), -0.01), r"floats must be from 0 .* from -0.01 to -0.01"),
        (PICTURE.astype(np.float32), "got float32 from 0.0 to 255.0"),
        (np.array([[0.5, np.nan]]), "got float64 from nan to nan"),
        (np.array([[0.5, np.inf]]), "got float64 from 0.5 to inf"),
        (np.array([[0, 256]]), "integers must be from 0 to 255, got int64 from 0 to"),
        (np.array([[-1, 3]], np.int8), "from 0 to 255, got int8 from -1 to 3"),
        (np.eye(3, dtype=int), "may be a mask or two blacks, got int64 .*: use bool"),
        (PICTURE.astype(np.uint16), "65535, bytes 255, got uint16 .*: use uint8"),
        (np.zeros((3, 3), complex), "pixels must be numbers, got complex128"),
        (np.array([["a"]]), "pixels must be numbers, got <U1"),
        (np.ma.array(GREY, mask=GREY > 5), "masked pixels have no value"),
    ],
)
def test_what_is_not_certain_is_refused(array, said):
    with pytest.raises(
        FeatureError, match=f"ray is not a readable image: .*{said}"
    ) as caught:
        pixels(array)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("dtype", [np.float32, np.uint16, np.int32, bool])
def test_black_is_black_on_every_scale(dtype):
    assert not pixels(np.zeros((4, 4), dtype)).any()


SCALES = {
    np.float32: lambda value: value * 255.0,
    np.float64: lambda value: value * 255.0,
    np.int32: float,
    np.int64: float,
    np.uint16: lambda value: value // 256,
}


@given(hnp.arrays(st.sampled_from(list(SCALES)), (2, 3)))
def test_numbers_are_scaled_or_refused(values):
    shown = [SCALES[values.dtype.type](value) for value in values.ravel().tolist()]
    try:
        found = to_bytes(values)
    except ValueError:
        within = all(0 <= value <= 255 for value in shown)
        assert not within or (values.dtype.kind in "iu" and 0 < values.max() <= 255)
        return
    np.testing.assert_allclose(found.ravel(), shown, rtol=0, atol=0.5001)


def test_files_of_floats_and_wide_integers(tmp_path):
    for name, array in {
        "float": (GREY / 255).astype(np.float32),
        "int": GREY.astype(np.int32),
        "deep": GREY.astype(np.uint16) * 257,
    }.items():
        Image.fromarray(array).save(tmp_path / f"{name}.tif")
        np.testing.assert_array_equal(
            pixels(tmp_path / f"{name}.tif"), np.dstack([GREY] * 3)
        )


def test_files_of_unknown_scale_are_refused(tmp_path):
    for name, array in {
        "float.tif": GREY.astype(np.float32),
        "int.tif": GREY.astype(np.int32) * 200,
    }.items():
        Image.fromarray(array).save(tmp_path / name)
        with pytest.raises(
            FeatureError, match=rf"{name} is not a readable image: .* got"
        ):
            pixels(tmp_path / name)


@pytest.mark.parametrize("name", ["x.png", "x.tif", "x.pgm"])
def test_a_dark_file_of_sixteen_bits_is_dark(tmp_path, name):
    """The file says that it has 16 bits; an array of such numbers does not."""
    dark = GREY.astype(np.uint16)
    save_deep(tmp_path / name, dark)
    assert not pixels(tmp_path / name).any()
    for item in (dark, Image.fromarray(dark)):
        with pytest.raises(FeatureError, match="use uint8 for bytes"):
            pixels(item)


def test_sixteen_bit_files(tmp_path):
    deep = GREY.astype(np.uint16) * 257
    for name in ("x.png", "x.tif", "x.pgm"):
        save_deep(tmp_path / name, deep)
        np.testing.assert_array_equal(pixels(tmp_path / name)[:, :, 0], GREY)


def save_deep(path, deep):
    if path.suffix == ".pgm":  # which Pillow 10 cannot write
        path.write_bytes(b"P5 20 12 65535\n" + deep.astype(">u2").tobytes())
    else:
        Image.fromarray(deep).save(path)


def test_twelve_bits_are_scaled(tmp_path):
    """Two numbers in three bytes, written by hand."""
    values = (GREY.astype(int) << 4).reshape(-1, 2)
    packed = np.column_stack(
        [
            values[:, 0] >> 4,
            (values[:, 0] & 15) << 4 | values[:, 1] >> 8,
            values[:, 1] & 255,
        ]
    )
    (tmp_path / "x.tif").write_bytes(tiff(packed.astype(np.uint8).tobytes(), 12, 1))
    np.testing.assert_array_equal(pixels(tmp_path / "x.tif")[:, :, 0], GREY)


def test_negatives_of_sixteen_bits_are_refused(tmp_path):
    content = (GREY.astype("<u2") * 257).tobytes()
    (tmp_path / "x.tif").write_bytes(tiff(content, 16, 0))
    with pytest.raises(FeatureError, match="grey of mode I;16 whose zero is white"):
        pixels(tmp_path / "x.tif")


def tiff(content, bits, photometric):
    """Return an uncompressed TIFF file of the shape of `GREY`."""
    height, width = GREY.shape
    tags = {256: width, 257: height, 258: bits, 259: 1, 262: photometric, 273: 8}
    tags |= {277: 1, 278: height, 279: len(content)}
    entries = b"".join(
        np.array([tag, 4], "<u2").tobytes() + np.array([1, value], "<u4").tobytes()
        for tag, value in tags.items()
    )
    content += b"\0" * (len(content) % 2)
    head = b"II*\0" + np.array([8 + len(content)], "<u4").tobytes()
    return head + content + np.uint16(len(tags)).tobytes() + entries + b"\0\0\0\0"


def test_animations_are_their_first_frame(tmp_path):
    frames = [Image.fromarray(GREY), Image.fromarray(255 - GREY)]
    for name in ("x.gif", "x.webp", "x.tif", "x.png"):
        options = {"lossless": True} if name == "x.webp" else {}
        frames[0].save(
            tmp_path / name, save_all=True, append_images=frames[1:], **options
        )
        np.testing.assert_array_equal(pixels(tmp_path / name)[:, :, 0], GREY)
