"""In a browser: a package, so that its event loop ends before other tests begin theirs."""
