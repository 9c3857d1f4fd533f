"""PiCoDes: codes for classes that are not in the training data."""
