"""Bundles that tests look at, and servers for them."""

import asyncio
import os
import random
import threading
import time
from contextlib import contextmanager
from functools import cache

import numpy as np
import uvicorn

from fewbits import datasets
from fewbits.bundle import Bundle, Metadata
from fewbits.learners import ITQ, LSH
from fewbits.server import Settings, create_app

N_TEXTS, N_IMAGES = 2500, 240
N_CLASSES = 1000
STOPPED = set()  # addresses of servers that answer no more
#: Answers are held back for up to so many milliseconds, so that none is in its order.
SLOW_ANSWERS = float(os.environ.get("FEWBITS_SLOW_ANSWERS", 0))


@cache
def diagnoses() -> Bundle:
    """Return a sample of the demo's data, with some items twice."""
    from fewbits import backbones

    data = datasets.load_icd10()
    rows = np.linspace(0, len(data) - 1, N_TEXTS).astype(np.int64)
    rows[-5:] = rows[:5]
    texts = [data.items[row] for row in rows]
    backbone = backbones.load("wordllama-256")
    features = backbone.extract(texts)
    encoder = ITQ(64, random_state=0).fit(features).encoder_
    bundle = Bundle(
        encoder,
        backbone="wordllama-256",
        backbone_fingerprint=backbone.fingerprint,
        metadata=Metadata(method="itq"),
    )
    columns = {"text": texts, "chapter": data.labels["chapter"][rows]}
    made = bundle.with_codes(encoder.encode(features), columns=columns)
    return made.with_novelty_radius(data.labels["category"][rows])


def digits(folder) -> Bundle:
    """Return images of digits, 8 x 8 pixels, in files."""
    from PIL import Image
    from sklearn.datasets import load_digits

    found = load_digits()
    paths, labels = [], []
    for number, (pixels, label) in enumerate(
        zip(found.images[:N_IMAGES], found.target[:N_IMAGES], strict=True)
    ):
        path = folder / f"{number:04d}.png"
        Image.fromarray((pixels * 15).astype(np.uint8)).save(path)
        paths.append(str(path))
        labels.append(f"digit {label}")
    return _of_images(paths, labels, 32)


def clothes(folder, n, data=None) -> Bundle:
    """Return images of Fashion-MNIST in files, with the codes of their features."""
    from PIL import Image

    found = datasets.load_fashion_mnist(data)
    every = len(found.items.array)
    rows = np.sort(np.random.default_rng(0).choice(every, n, replace=False))
    paths = [str(folder / f"{row:05d}.png") for row in rows]
    for path, row in zip(paths, rows, strict=True):
        Image.fromarray(found.items.array[row]).save(path)
    labels = found.labels["class"][rows]
    made = _of_images(paths, labels, 64)
    return made.with_novelty_radius(labels)


def _of_images(paths, labels, n_bits) -> Bundle:
    from fewbits import backbones

    backbone = backbones.load("efficientnet-lite0-96")
    features = backbone.extract(paths)
    encoder = ITQ(n_bits, random_state=0).fit(features).encoder_
    bundle = Bundle(
        encoder,
        backbone="efficientnet-lite0-96",
        backbone_fingerprint=backbone.fingerprint,
        metadata=Metadata(method="itq", raw_column="path", label_column="label"),
    )
    columns = {"path": paths, "label": labels}
    return bundle.with_codes(encoder.encode(features), columns=columns)


def many_classes() -> Bundle:
    """Return vectors of 1,000 classes, the first ones larger; bit 0 is dead."""
    rng = np.random.default_rng(0)
    sizes = np.maximum(2, 40 - 4 * np.arange(N_CLASSES))
    classes = np.repeat(np.arange(N_CLASSES), sizes)
    centres = rng.normal(size=(N_CLASSES, 8))
    vectors = centres[classes] + 0.1 * rng.normal(size=(len(classes), 8))
    bundle = Bundle(LSH(40, random_state=0).fit(vectors).encoder_)
    bundle = bundle.with_items(
        vectors,
        ids=[f"item {i:05d}" for i in range(len(classes))],
        columns={"kind": [f"class {each:04d}" for each in classes]},
        keep_vectors="float16",
    )
    codes = bundle.collection.codes.copy()
    codes[:, 0] &= 0x7F
    return Bundle(
        bundle.encoder, bundle.collection.with_codes(codes), metadata=bundle.metadata
    )


def held_back(app):
    """Return the service with late answers: reading too early then fails."""

    async def late(scope, receive, send):
        if not scope.get("path", "").startswith("/v1/"):
            return await app(scope, receive, send)

        async def send_late(message):
            if message["type"] == "http.response.start":
                await asyncio.sleep(random.choice((0, 0.3, 1)) * SLOW_ANSWERS / 1000)
            await send(message)

        return await app(scope, receive, send_late)

    return late


@contextmanager
def serving(source, prepare=lambda app: None, **settings):
    """Serve a bundle at a free port of this machine; give its address."""
    app = create_app(source, Settings(**settings))
    prepare(app)
    served = held_back(app) if SLOW_ANSWERS else app
    config = uvicorn.Config(served, port=0, log_level="error", ws="none", lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("the server did not start")
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    url = f"http://localhost:{port}/"
    try:
        yield url
    finally:
        STOPPED.add(url)
        server.should_exit = True
        thread.join()
