"""The same examples on every run, and no failures because a machine is busy."""

from hypothesis import settings

settings.register_profile("fewbits", deadline=None, derandomize=True)
settings.load_profile("fewbits")
