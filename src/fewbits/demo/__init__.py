"""The main job on real data: diagnoses become a few bits that answer questions."""

from fewbits.demo._icd10 import (
    BACKBONE,
    QUESTIONS,
    Answer,
    ask,
    build,
    compare,
    load,
    made,
)

__all__ = [
    "BACKBONE",
    "QUESTIONS",
    "Answer",
    "ask",
    "build",
    "compare",
    "load",
    "made",
]
