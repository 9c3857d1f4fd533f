"""In a browser: a package, so that its event loop ends before that of other tests."""
