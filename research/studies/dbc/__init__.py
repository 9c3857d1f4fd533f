"""DBC: codes for classes that were trained on."""
