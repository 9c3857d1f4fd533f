"""How much a test does: little in the suite, all of it by ``make nightly``."""

import os

NIGHTLY = os.environ.get("FEWBITS_NIGHTLY") == "1"
