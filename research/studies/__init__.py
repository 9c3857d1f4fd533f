"""One folder per paper: what is run, what it claims, and its page."""
