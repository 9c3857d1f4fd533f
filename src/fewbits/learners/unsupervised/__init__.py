"""Learners that need no labels."""
