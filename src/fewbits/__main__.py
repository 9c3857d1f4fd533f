"""``python -m fewbits``, the same as the command ``fewbits``."""

from fewbits.cli import main

if __name__ == "__main__":
    main()
