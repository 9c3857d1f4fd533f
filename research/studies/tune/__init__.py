"""Ours: what tuning chooses, beside every method as it comes."""
