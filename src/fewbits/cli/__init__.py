"""Command line interface: a file for each command, a few lines around a collection."""

from fewbits.cli._app import app, main

__all__ = ["app", "main"]
