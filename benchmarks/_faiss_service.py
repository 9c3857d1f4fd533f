"""A minimal FastAPI service over faiss, as a baseline.

Run by uvicorn; the variable ``CODES`` names a .npy file of packed codes.
"""

import os

import faiss
import numpy as np
from fastapi import FastAPI
from pydantic import BaseModel

codes = np.load(os.environ["CODES"])
index = faiss.IndexBinaryFlat(codes.shape[1] * 8)
index.add(codes)
app = FastAPI()


class Asked(BaseModel):
    codes: list[str]
    k: int = 10


@app.get("/health")
def health() -> dict[str, str]:
    return {"status": "ok"}


@app.post("/search")
def search(asked: Asked) -> dict[str, list[list[int]]]:
    queries = np.stack([np.frombuffer(bytes.fromhex(x), np.uint8) for x in asked.codes])
    distances, ids = index.search(queries, asked.k)
    return {"ids": ids.tolist(), "distances": distances.tolist()}
