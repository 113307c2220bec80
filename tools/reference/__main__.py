"""``python -m tools.reference FOLDER`` writes the pages of the probelet that this interpreter imports."""

import sys
from pathlib import Path

from tools.reference.pages import pages


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages(folder).items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
