"""Ours: neighbour-preserving codes."""
