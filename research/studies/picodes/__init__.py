"""PiCoDes: codes for classes that nobody trained on."""
