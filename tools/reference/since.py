"""Since which version there has been a field: from the page as it was, so that nobody has to write it down.

A field that the page does not have yet came with the version in Cargo.toml or, if CHANGELOG.md says that this version
is released already, with the next one. `make reference` in the commit of a release gives such a field its version.
"""

import re

from probelet import _rust

NEXT = "the next release"
RELEASED = re.compile(r"^## \[?v?(\d+\.\d+\.\d+)", re.MULTILINE)
ENTRY = re.compile(r"^### `(?P<field>[^`]+)`\n\n.*?; since (?P<since>[^;\n]+?)\.?$", re.MULTILINE)


def released(changelog: str) -> set[str]:
    """The versions that have a section of their own."""
    return set(RELEASED.findall(changelog))


class Since:
    """``page`` is the page as it was."""

    def __init__(self, page: str, changelog: str, version: str | None = None) -> None:
        version = version or _rust.version()
        self._now = NEXT if version in released(changelog) else version
        self._known = {found["field"]: found["since"] for found in ENTRY.finditer(page)}

    def of(self, field: str) -> str:
        known = self._known.get(field, NEXT)
        return self._now if known == NEXT else known
