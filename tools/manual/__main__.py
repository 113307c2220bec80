"""``python -m tools.manual FOLDER`` writes the man pages of the probelet that this interpreter imports."""

import sys
from pathlib import Path

from tools.manual.page import pages


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
