"""Command line interface: one module per command, no arithmetic."""

from fewbits.cli._app import app, main

__all__ = ["app", "main"]
