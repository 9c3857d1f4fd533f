"""Collections that tests look at, and servers for them."""

import asyncio
import os
import random
import threading
import time
from contextlib import contextmanager
from functools import cache

import numpy as np
import pyarrow as pa
import uvicorn

from fewbits import Collection, datasets
from fewbits.encoders import LinearEncoder
from fewbits.learners import ITQ
from fewbits.server import Settings, create_app

N_TEXTS, N_IMAGES = 2500, 40
N_CLASSES = 1000
STOPPED = set()  # addresses of servers that answer no more
#: Answers are held back for up to so many milliseconds, so that none is in its order.
SLOW_ANSWERS = float(os.environ.get("FEWBITS_SLOW_ANSWERS", 0))


def of_signs(X, path=None, **options) -> Collection:
    """Return a collection whose codes are the signs of vectors."""
    n_bits = np.shape(X)[1]
    options.setdefault("encoder", LinearEncoder(np.eye(n_bits), np.zeros(n_bits)))
    return Collection.create(path, X, **options)


@cache
def diagnoses() -> Collection:
    """Return a sample of the demo's data, with some items twice."""
    data = datasets.load_icd10()
    rows = np.linspace(0, len(data) - 1, N_TEXTS).astype(np.int64)
    rows[-5:] = rows[:5]
    columns = {"chapter": data.labels["chapter"][rows].tolist()}
    table = {"text": [data.items[row] for row in rows], **columns}
    return Collection.create(
        None,
        pa.table(table),
        column="text",
        label="chapter",
        backbone="wordllama-256",
        learner=ITQ(64, random_state=0),
    )


def digits(folder) -> Collection:
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


def clothes(folder, n, data=None) -> Collection:
    """Return images of Fashion-MNIST in files, with the codes of their features."""
    from PIL import Image

    from research.common.datasets import load_fashion_mnist

    result = load_fashion_mnist(data)
    every = len(result.items.array)
    rows = np.sort(np.random.default_rng(0).choice(every, n, replace=False))
    paths = [str(folder / f"{row:05d}.png") for row in rows]
    for path, row in zip(paths, rows, strict=True):
        Image.fromarray(result.items.array[row]).save(path)
    labels = result.labels["class"][rows]
    return _of_images(paths, labels.tolist(), 64)


def _of_images(paths, labels, n_bits) -> Collection:
    return Collection.create(
        None,
        pa.table({"path": paths, "label": labels}),
        images="path",
        label="label",
        backbone="efficientnet-lite0-96",
        learner=ITQ(n_bits, random_state=0),
    )


def many_classes(path=None) -> Collection:
    """Return vectors of 1,000 classes, the first ones larger; bit 0 is dead."""
    rng = np.random.default_rng(0)
    sizes = np.maximum(2, 40 - 4 * np.arange(N_CLASSES))
    classes = np.repeat(np.arange(N_CLASSES), sizes)
    centres = rng.normal(size=(N_CLASSES, 8))
    vectors = centres[classes] + 0.1 * rng.normal(size=(len(classes), 8))
    weights, bias = rng.normal(size=(8, 40)), np.zeros(40)
    weights[:, 0], bias[0] = 0, -1
    return Collection.create(
        path,
        vectors,
        encoder=LinearEncoder(weights, bias),
        ids=[f"item {i:05d}" for i in range(len(classes))],
        columns={"kind": [f"class {number:04d}" for number in classes]},
        keep_vectors="float16",
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
def serving(source, **settings):
    """Serve a collection at a free port of this machine; give its address."""
    app = create_app(source, Settings(**settings))
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
