"""``python -m probelet``."""

from probelet.cli import main

if __name__ == "__main__":
    main()
