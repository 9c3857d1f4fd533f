"""What this package hands to other systems, one subpackage for each of them."""
