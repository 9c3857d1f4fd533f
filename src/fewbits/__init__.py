"""Learn compact binary codes, search them and answer questions with them.

Subpackages are imported by name, ``from fewbits.learners import ITQ``, so that using
an encoder does not load the libraries that trained it.
"""

__version__ = "0.1.0"
