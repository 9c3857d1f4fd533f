"""Version of the package, for files and commands that name it."""

__version__ = "0.1.0"
