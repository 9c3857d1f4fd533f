"""WordLlama: static word-piece embeddings, averaged."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from fewbits._extras import missing_extra
from fewbits.backbones._base import Backbone, Progress
from fewbits.errors import FeatureError

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_RULE = "mean of the word pieces without special ones, l2-normalised, version 1"
_BATCH = 1024


@final
class WordLlama(Backbone):
    """Text to 256 floats in microseconds, without torch.

    A text is the mean of the vectors of its word pieces, scaled to length 1. A text
    without any word piece (an empty one) is the zero vector.

    Raises
    ------
    MissingExtraError
        When the packages of the extra ``text`` are not installed.
    """

    id = "wordllama-256"
    kind: ClassVar[str] = "texts"

    def __init__(self) -> None:
        # The package itself would look for its tokenizer on the network.
        spec = find_spec("wordllama")
        tokenizers = find_spec("tokenizers")
        if spec is None or not spec.submodule_search_locations or tokenizers is None:
            what = "texts need the packages wordllama and tokenizers"
            raise missing_extra(what, "text")
        self._folder = Path(spec.submodule_search_locations[0])
        (weights,) = load_file(self._folder / _WEIGHTS).values()
        self._vectors = weights  # float16: rows become float32 when they are needed
        self.n_features = int(self._vectors.shape[1])

    @cached_property
    def fingerprint(self) -> str:
        digest = hashlib.sha256(_RULE.encode())
        for name in (_WEIGHTS, _TOKENIZER):
            digest.update((self._folder / name).read_bytes())
        return digest.hexdigest()

    def extract(
        self, items: Sequence[Any], *, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        features = np.zeros((len(items), self.n_features), np.float32)
        for start in range(0, len(items), _BATCH):
            texts = list(items[start : start + _BATCH])
            for text in texts:
                if not isinstance(text, str):
                    raise FeatureError(f"expected texts, got {type(text).__name__}")
            pieces = self._tokenizer.encode_batch(texts, add_special_tokens=False)
            for row, encoding in enumerate(pieces, start):
                if encoding.ids:
                    # In an order of additions that never varies.
                    vectors = self._vectors[encoding.ids].astype(np.float32)
                    mean = vectors.sum(axis=0, dtype=np.float64) / len(vectors)
                    length = np.sqrt((mean * mean).sum())
                    features[row] = mean / (length or 1.0)
            if progress is not None:
                progress(min(start + _BATCH, len(items)), len(items))
        return features

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._folder / _TOKENIZER))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer
