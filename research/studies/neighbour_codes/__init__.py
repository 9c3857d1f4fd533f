"""Ours: codes that are trained to keep neighbours."""
