"""Experiments that repeat what papers claim: ``python -m research --help``."""
