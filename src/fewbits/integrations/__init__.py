"""Exports to other systems, one subpackage for each of them."""
