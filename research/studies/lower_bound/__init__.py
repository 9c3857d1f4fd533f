"""Posterior control of deep hashing losses."""
