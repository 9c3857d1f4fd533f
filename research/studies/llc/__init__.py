"""LLC: learned codes for classes and items."""
