"""docs/pods.md shows the table of fields as the code has it."""

import difflib

import pytest
from probelet.spec.fields.container_fields import CONTAINER_ROWS, HOOK_ROWS, PROBE_ROWS
from probelet.spec.fields.pod_fields import POD_ROWS
from probelet.spec.fields.security_fields import SECURITY_ROWS
from probelet.spec.fields.support import Row, Support

from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "pods.md"

TABLES: dict[str, tuple[Row, ...]] = {
    "The pod": POD_ROWS,
    "Security contexts": SECURITY_ROWS,
    "Containers": CONTAINER_ROWS,
    "Hooks": HOOK_ROWS,
    "Probes": PROBE_ROWS,
}
"""By the heading of the page under which the table stands."""

HEAD = "| field | embedded runtime | CRI runtime |\n|---|---|---|\n"


def cell(verdict: Support) -> str:
    return f"{verdict.kind}: {verdict.why}" if verdict.why else verdict.kind


def table(rows: tuple[Row, ...]) -> str:
    return HEAD + "".join(f"| `{row.path}` | {cell(row.process)} | {cell(row.cri)} |\n" for row in rows)


def shown(page: str, heading: str) -> str:
    section = page.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return "".join(f"{line}\n" for line in section.splitlines() if line.startswith("|"))


@pytest.mark.parametrize("heading", TABLES)
def test_the_page_has_the_table_of_the_code(heading: str) -> None:
    expected, found = table(TABLES[heading]), shown(PAGE.read_text(), heading)
    difference = "".join(
        difflib.unified_diff(found.splitlines(True), expected.splitlines(True), "docs/pods.md", "code")
    )
    assert difference == "", difference


def test_a_row_that_differs_is_found() -> None:
    rows = POD_ROWS[:2]
    assert shown(f"## The pod\n\n{table(rows)}\n## Next\n| x |\n", "The pod") == table(rows)
    assert table(rows) != table(POD_ROWS[:1])
    assert "| `spec.affinity` | ignored: " in table(rows)
