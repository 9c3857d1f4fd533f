"""Classic descriptors, and the words that they are counted by."""

import cv2
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from fewbits._kernels import num_threads, set_num_threads
from fewbits.errors import ArgumentError, ArtefactError, FeatureError
from research.common.classic_descriptors import ClassicDescriptors, nearest
from research.common.descriptors import (
    as_grey,
    as_image,
    cell_histograms,
    colour_gist,
    dense_sift,
    phog,
    pyramid,
    self_similarity,
)


def random_words(seed=0):
    rng = np.random.default_rng(seed)
    ssim = rng.random((300, 30), dtype=np.float32)
    return {"ssim": ssim, "sift": 60 * rng.random((500, 128), np.float32)}


def picture(seed=0, height=60, width=80):
    """Noise with structure at every scale, in colour."""
    noise = np.random.default_rng(seed).random((height, width, 3), dtype=np.float32)
    layers = [cv2.GaussianBlur(noise, (0, 0), s) * s for s in (1, 3, 9)]
    return cv2.normalize(sum(layers), None, 0, 255, cv2.NORM_MINMAX).astype(np.uint8)


@pytest.fixture(scope="module")
def backbone():
    return ClassicDescriptors(random_words())


class TestFeatures:
    def test_parts_tile_the_columns(self, backbone):
        spans = list(backbone.parts.values())
        columns = np.concatenate([np.arange(backbone.n_features)[s] for s in spans])
        assert columns.tolist() == list(range(22860))
        lengths = [s.stop - s.start for s in spans]
        assert lengths[:5] == [960, 20, 80, 320, 1280]
        assert lengths[5:9] == [40, 160, 640, 2560]
        assert lengths[9:] == [300, 1200, 4800, 500, 2000, 8000]
        assert list(backbone.parts)[:2] == ["gist", "phog180-1"]
        assert list(backbone.parts)[-1] == "sift-16"

    @settings(max_examples=5)
    @given(
        arrays(
            np.uint8,
            st.tuples(st.integers(1, 40), st.integers(1, 40), st.just(3)),
        )
    )
    @example(np.zeros((1, 1, 3), np.uint8))
    @example(np.full((30, 20, 3), 255, np.uint8))
    def test_each_part_sums_to_one_or_nothing(self, image):
        (features,) = ClassicDescriptors(random_words()).extract([image])
        assert features.min() >= 0
        for name, span in ClassicDescriptors.parts.items():
            total = features[span].sum(dtype=np.float64)
            assert total == pytest.approx(1, abs=1e-4) or total == 0, name
            if (image == image[0, 0]).all():
                assert total == 0, name

    def test_a_picture_fills_every_part(self, backbone):
        (features,) = backbone.extract([picture()])
        for name, span in backbone.parts.items():
            assert features[span].sum() == pytest.approx(1, abs=1e-4), name

    def test_parts_are_in_the_order_of_their_names(self, backbone):
        image = picture()
        (features,) = backbone.extract([image])
        grey = as_grey(as_image(image))

        def histograms(local, words):
            numbers = nearest(local.vectors, words)
            return pyramid(
                cell_histograms(numbers, local.places, grey.shape, len(words), 4)
            )

        words = random_words()
        for name, expected in {
            "gist": colour_gist(as_image(image)),
            "phog180-4": phog(grey)[1],
            "phog360-64": phog(grey)[7],
            "ssim-16": histograms(self_similarity(grey), words["ssim"])[2],
            "sift-1": histograms(dense_sift(grey), words["sift"])[0],
        }.items():
            part = features[backbone.parts[name]]
            np.testing.assert_allclose(part, expected, atol=1e-7)

    def test_every_mode(self, backbone):
        colour = Image.fromarray(picture())
        grey, palette = colour.convert("L"), colour.convert("P")
        pairs = [
            (grey, grey.convert("RGB")),
            (palette, palette.convert("RGB")),
            (colour.convert("RGBA"), colour),
        ]
        for image, same in pairs:
            found, expected = backbone.extract([image, same])
            np.testing.assert_array_equal(found, expected)

    def test_grey_has_three_equal_channels(self, backbone):
        (features,) = backbone.extract([picture()[..., 0]])
        red, green, blue = features[backbone.parts["gist"]].reshape(3, 320)
        np.testing.assert_array_equal(red, green)
        np.testing.assert_array_equal(red, blue)

    def test_threads_change_nothing(self, backbone):
        images, before = [picture(seed) for seed in range(3)], num_threads()
        found = []
        try:
            for n_threads in (1, 3):
                set_num_threads(n_threads)
                found.append(backbone.extract(images))
        finally:
            set_num_threads(before)
        np.testing.assert_array_equal(*found)

    @pytest.mark.parametrize("fails", [False, True])
    def test_opencv_keeps_its_threads(self, backbone, tmp_path, fails):
        before = cv2.getNumThreads()
        cv2.setNumThreads(2)
        try:
            if fails:
                with pytest.raises(FeatureError):
                    backbone.extract([picture(), tmp_path / "absent.png"])
            else:
                backbone.extract([picture()])
            assert cv2.getNumThreads() == 2
        finally:
            cv2.setNumThreads(before)

    def test_a_broken_file_is_named(self, backbone, tmp_path):
        (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff no image")
        for use in (backbone.extract, ClassicDescriptors.learn):
            with pytest.raises(
                FeatureError, match=r"broken\.jpg is not a readable image"
            ):
                use([picture(), tmp_path / "broken.jpg"])

    @pytest.mark.parametrize(
        ("shape", "expected"),
        [
            ((600, 300), (256, 128)),
            ((10, 20), (128, 256)),
            ((1, 1), (256, 256)),
            ((3, 3000), (32, 256)),
        ],
    )
    def test_size(self, shape, expected):
        assert as_image(np.zeros(shape, np.uint8)).shape == (*expected, 3)


def grating(angle, frequency, side):
    """Stripes whose brightness changes along `angle`, downwards from the right."""
    y, x = np.indices((side, side))
    phase = 2 * np.pi * frequency * (x * np.cos(angle) + y * np.sin(angle))
    return np.round(127 + 100 * np.sin(phase)).astype(np.uint8)


class TestGist:
    def test_each_filter_answers_to_its_stripes(self):
        strongest = []
        for scale, n in enumerate((8, 8, 4)):
            for k in range(n):
                image = grating(np.pi * k / n, 0.3 / 1.85**scale, 96)
                gist = colour_gist(np.stack([image] * 3, axis=-1))
                strongest.append(int(gist.reshape(3, 20, 16).sum(axis=(0, 2)).argmax()))
        assert strongest == list(range(20))

    def test_channels_and_regions_are_in_reading_order(self):
        image = np.full((96, 96, 3), 90, np.uint8)
        image[24:48, 72:, 1] = grating(0, 0.3, 24)  # green, second row, last column
        gist = colour_gist(image).reshape(3, 20, 4, 4)
        assert gist[0].sum() == gist[2].sum() == 0
        energy = gist[1].sum(axis=0)
        assert np.unravel_index(energy.argmax(), (4, 4)) == (1, 3)


class TestPhog:
    @given(st.integers(0, 39))
    def test_a_ramp_fills_one_bin(self, bin_):
        angle = (bin_ + 0.5) * 2 * np.pi / 40
        y, x = np.indices((64, 64)) - 32
        ramp = 127 + 2.5 * (x * np.cos(angle) + y * np.sin(angle))
        levels = phog(np.round(ramp).clip(0, 255).astype(np.uint8))
        assert [len(level) for level in levels] == [
            *(20, 80, 320, 1280),
            *(40, 160, 640, 2560),
        ]
        # Rounding to whole shades turns some gradients a little.
        assert levels[0].argmax() == bin_ % 20
        assert levels[4].argmax() == bin_
        near = [(bin_ + step) % 40 for step in (-1, 0, 1)]
        assert levels[4][near].sum() > 0.9

    def test_opposite_edges_are_one_bin_of_half_the_circle(self):
        image = picture()[..., 0]
        levels = phog(image)
        folded = levels[5].reshape(4, 2, 20).sum(axis=1)
        np.testing.assert_allclose(levels[1].reshape(4, 20), folded)
        np.testing.assert_allclose(phog(255 - image)[0], levels[0], atol=1e-12)

    def test_an_edge_is_in_its_cell(self):
        image = np.zeros((80, 80), np.uint8)
        image[13:17, 33:37] = 200  # row 1, column 3 of 8 x 8
        cells = phog(image)[3].reshape(8, 8, 20).sum(axis=2)
        assert np.argwhere(cells).tolist() == [[1, 3]]


class TestPyramid:
    @given(st.data())
    def test_counts(self, data):
        height, width = data.draw(st.tuples(st.integers(4, 50), st.integers(4, 50)))
        n = data.draw(st.integers(0, 30))
        rng = np.random.default_rng(n)
        rows, columns = rng.integers(0, height, n), rng.integers(0, width, n)
        words = rng.integers(0, 5, n)
        cells = cell_histograms(words, (rows, columns), (height, width), 5, 4)
        expected = np.zeros((4, 4, 5))
        for word, row, column in zip(words, rows, columns, strict=True):
            expected[int(4 * row / height), int(4 * column / width), word] += 1
        np.testing.assert_array_equal(cells, expected)
        assert cells.sum() == n

    def test_levels(self):
        cells = np.arange(32, dtype=float).reshape(4, 4, 2)
        whole, quarters, finest = pyramid(cells)
        np.testing.assert_allclose(whole, cells.sum(axis=(0, 1)) / cells.sum())
        upper_right = cells[:2, 2:].sum(axis=(0, 1)) / cells.sum()
        np.testing.assert_allclose(quarters.reshape(2, 2, 2)[0, 1], upper_right)
        np.testing.assert_allclose(finest, cells.ravel() / cells.sum())


class TestSift:
    def test_moves_with_the_image(self):
        image = picture(height=120, width=120)[..., 0]
        moved = np.roll(image, (6, 12), axis=(0, 1))
        here, there = (
            dense_sift(x).vectors.reshape(20, 20, 128) for x in (image, moved)
        )
        np.testing.assert_allclose(there[6:15, 7:15], here[5:14, 5:13], atol=1)
        assert np.abs(there[6:15, 7:15] - here[6:15, 7:15]).mean() > 5

    def test_nothing_where_nothing_is_seen(self):
        image = np.full((120, 120), 90, np.uint8)
        image[:24] = picture(height=24, width=120)[..., 0]
        rows, columns = dense_sift(image).places
        assert 24 < rows.max() < 80
        assert (columns.min(), columns.max()) == (3, 117)


class TestSelfSimilarity:
    def test_by_hand(self):
        """Against the definition, patch by patch, away from the borders."""
        image = picture(height=100, width=120)[..., 0]
        small = cv2.resize(image, (60, 50), interpolation=cv2.INTER_AREA).astype(float)
        local = self_similarity(image)
        rows, columns = local.places
        inside = (rows > 30) & (rows < 70) & (columns > 30) & (columns < 90)
        assert inside.sum() > 20
        for row in np.flatnonzero(inside)[::10]:
            expected = by_definition(small, rows[row] // 2, columns[row] // 2)
            np.testing.assert_allclose(local.vectors[row], expected, atol=1e-4)

    def test_repeated_stripes_look_alike_along_them(self):
        stripes = np.where(np.arange(100) // 7 % 2, 40, 220).astype(np.uint8)
        local = self_similarity(np.tile(stripes, (100, 1)))  # vertical stripes
        middle = local.vectors[len(local.vectors) // 2].reshape(3, 10)
        assert middle[1, [2, 7]].min() > 0.99  # straight down and up


def by_definition(image, row, column):
    def patch(y, x):
        return image[row + y - 2 : row + y + 3, column + x - 2 : column + x + 3]

    bins, nearby = np.full(30, np.inf), 50 * 25
    for y in range(-10, 11):
        for x in range(-10, 11):
            distance = np.hypot(y, x)
            if not 0 < distance <= 10:
                continue
            ring = 0 if distance <= 2.5 else 1 if distance <= 5.5 else 2
            sector = int(np.degrees(np.arctan2(y, x)) % 360 // 36)
            difference = ((patch(0, 0) - patch(y, x)) ** 2).sum()
            bins[10 * ring + sector] = min(bins[10 * ring + sector], difference)
            if max(abs(y), abs(x)) == 1:
                nearby = max(nearby, difference)
    likeness = np.exp(-bins / nearby)
    return (likeness - likeness.min()) / (likeness.max() - likeness.min())


@given(arrays(np.int8, (7, 3)), arrays(np.int8, (4, 3)))
def test_nearest_word(vectors, words):
    vectors, words = vectors.astype(np.float32), words.astype(np.float32)
    distances = ((vectors[:, None] - words) ** 2).sum(axis=2)
    np.testing.assert_array_equal(nearest(vectors, words), distances.argmin(axis=1))


class TestLearning:
    def test_the_seed_decides(self):
        images, seen = [picture(height=40)], []
        first = ClassicDescriptors.learn(images, progress=lambda *x: seen.append(x))
        again = ClassicDescriptors.learn(images, random_state=0)
        other = ClassicDescriptors.learn(images, random_state=1)
        assert first.fingerprint == again.fingerprint != other.fingerprint
        assert seen == [(1, 1)]

    def test_words_are_like_the_descriptors(self):
        image = picture()
        grey = as_grey(as_image(image))
        learnt = ClassicDescriptors.learn([image]).words["sift"]
        vectors = dense_sift(grey).vectors
        mean_gap = np.linalg.norm(vectors - learnt[nearest(vectors, learnt)], axis=1)
        spread = np.linalg.norm(vectors - vectors.mean(axis=0), axis=1)
        assert mean_gap.mean() < 0.5 * spread.mean()

    @pytest.mark.parametrize(
        ("images", "message"),
        [([], "there are none"), ([np.zeros((9, 9), np.uint8)], "gave 0: take more")],
    )
    def test_too_little_to_learn_from(self, images, message):
        with pytest.raises(ArgumentError, match=message):
            ClassicDescriptors.learn(images)


class TestFiles:
    def test_round_trip(self, backbone, tmp_path):
        backbone.save(tmp_path / "words")
        again = ClassicDescriptors.load(tmp_path / "words")
        assert (again.id, again.fingerprint) == (backbone.id, backbone.fingerprint)
        image = [picture()]
        np.testing.assert_array_equal(again.extract(image), backbone.extract(image))

    def test_words_are_in_the_fingerprint(self, backbone):
        other = ClassicDescriptors(random_words(1))
        assert other.fingerprint != backbone.fingerprint
        assert other.id != backbone.id

    @given(st.floats(0, 1, exclude_max=True), st.integers(1, 255))
    @example(0.0, 1)
    @example(0.0001, 1)
    def test_damage(self, tmp_path_factory, where, change):
        path = tmp_path_factory.mktemp("words") / "words"
        ClassicDescriptors(random_words()).save(path)
        content = bytearray(path.read_bytes())
        content[int(where * len(content))] ^= change
        path.write_bytes(content)
        with pytest.raises(ArtefactError) as caught:
            ClassicDescriptors.load(path)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("length", [0, 5, 1000, 200_000])
    def test_cut_off(self, backbone, tmp_path, length):
        backbone.save(tmp_path / "words")
        content = (tmp_path / "words").read_bytes()
        (tmp_path / "words").write_bytes(content[:length])
        with pytest.raises(ArtefactError, match="words holds no readable vocabulary"):
            ClassicDescriptors.load(tmp_path / "words")

    @pytest.mark.parametrize(
        "change",
        [lambda x: x[:499], lambda x: x.astype(np.float64), lambda x: x.T],
        ids=["fewer", "float64", "turned"],
    )
    def test_other_shapes_and_types(self, change):
        words = random_words()
        odd = words | {"sift": np.ascontiguousarray(change(words["sift"]))}
        with pytest.raises(ArgumentError, match="words of sift must be float32"):
            ClassicDescriptors(odd)
