"""Services that listen on a port of their own, in a process or in a thread."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import uvicorn

from fewbits import Collection
from fewbits.classify import Codebook
from fewbits.encoders import LinearEncoder
from fewbits.server import Settings, create_app, uvicorn_config

N_BITS = 32
ENCODER = LinearEncoder(np.eye(N_BITS), np.zeros(N_BITS))


def vectors(n=200, seed=0):
    return np.random.default_rng(seed).normal(size=(n, N_BITS)).astype(np.float32)


def learnt(encoder, book, rejection=None):
    """Return an encoder with class codes, to create collections by.

    As a deep learner leaves it, which would take seconds.
    """
    return Collection.from_parts(encoder, codebook=book, rejection=rejection)


def small_collection(n=200, path=None, **options):
    """Return a collection of vectors that can do all that a service can."""
    columns = {
        "kind": ["red", "green"] * (n // 2),
        "year": [2000 + i % 20 for i in range(n)],
    }
    book = Codebook(ENCODER.encode(vectors()[:3]), N_BITS, ["ant", "bee", "cat"])
    options = {"columns": columns, "encoder": learnt(ENCODER, book), **options}
    return Collection.create(path, vectors(n), **options)


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


@contextlib.contextmanager
def served(source, settings=None, **config):
    """Serve in a thread of this process; gives the address."""
    settings = settings or Settings()
    app, port = create_app(source, settings), free_port()
    with running(app, settings, port, **config) as url:
        yield url


@contextlib.contextmanager
def running(app, settings, port, **config):
    server = uvicorn.Server(uvicorn_config(app, settings, port=port, **config))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)


@contextlib.contextmanager
def process(*arguments, environment=None, stderr=subprocess.PIPE):
    """Run ``fewbits serve`` as users do; gives (address, process, lines of its log)."""
    command = [Path(sys.executable).with_name("fewbits"), "serve", *arguments]
    run = subprocess.Popen(
        [*map(str, command), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=stderr,
        env={**os.environ, **(environment or {})},
    )
    lines = []
    reader = threading.Thread(
        target=lambda: lines.extend(run.stderr or ()), daemon=True
    )
    reader.start()
    try:
        told = run.stdout.readline().decode()
        assert " is served at http://" in told, b"".join(lines).decode()
        yield told.split()[4].removesuffix("/?token=TOKEN"), run, lines
    finally:
        run.terminate()
        run.wait(30)
        reader.join(10)
        run.stdout.close()
        if run.stderr is not None:
            run.stderr.close()


def logged(lines):
    return [json.loads(line) for line in lines]
