"""Experiments: each writes what it measures as JSON lines; `pages` makes the docs.

A measurement that is already in the file is not made again, so that a long run may be
interrupted, and the pages are built from the files alone.
"""
