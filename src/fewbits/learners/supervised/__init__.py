"""Learners from labels."""
