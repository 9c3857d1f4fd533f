"""Experiments: each writes its measurements as JSON lines; `pages` turns them into docs.

A measurement that is already in the file is not made again, so that a long run may be
interrupted, and the pages are built from the files alone.
"""
