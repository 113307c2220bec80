"""``python -m tools.reference DOCS`` writes the pages of the probelet that this interpreter imports, into
``DOCS/reference`` and ``DOCS/lint``."""

import sys
from pathlib import Path

from tools.reference.pages import pages, rule_pages


def main() -> None:
    docs = Path(sys.argv[1])
    write(docs / "reference", pages(docs / "reference"))
    write(docs / "lint", rule_pages())


def write(folder: Path, found: dict[str, str]) -> None:
    """Writes the pages of a folder, and removes the page of a rule that is no more."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in folder.glob("*.md"):
        if page.name not in found:
            page.unlink()
    for name, text in found.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
