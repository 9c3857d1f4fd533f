"""Bits as attributes: how well they are used, and what their names are worth."""
