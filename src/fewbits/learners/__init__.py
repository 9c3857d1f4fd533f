"""Methods that learn an encoder from data."""

from fewbits.learners._base import Learner

__all__ = ["Learner"]
