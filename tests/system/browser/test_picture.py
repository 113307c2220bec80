"""The pages of ``probelet simulate`` in a real browser: nothing is cut and nothing is printed over, at each width."""

from collections.abc import Callable
from pathlib import Path

import pytest
from probelet.lab.picture.document import SimulateDocument
from probelet.lab.picture.page import page

from tests.system.browser.chromium import Browser
from tests.unit.lab.picture.scenes import slow_dependency
from tests.unit.lab.picture.test_page import compared

pytestmark = pytest.mark.e2e

WIDTHS = (390, 500, 1280)
CUT = """[...document.querySelectorAll("body *, svg:not(.defs) text")]
  .filter((one) => one.getBoundingClientRect().width && one.getBoundingClientRect().right > innerWidth + 1)
  .map((one) => one.textContent.slice(0, 60))"""
OVER = """(() => {
  const boxes = [...document.querySelectorAll("text.h, text.z")].map((one) => [one, one.getBoundingClientRect()])
    .filter(([, box]) => box.width && box.height);
  const found = [];
  for (const [one, a] of boxes) for (const [other, b] of boxes)
    if (one !== other && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)
      found.push(`${one.textContent} over ${other.textContent}`);
  return found;
})()"""


@pytest.mark.parametrize("made", [slow_dependency, compared])
async def test_it_fits_each_window(browser: Browser, tmp_path: Path, made: Callable[[], SimulateDocument]) -> None:
    document = made()
    if "against" in document:
        document["manifests"] = ["examples/lab/server-with-many-dependencies.yaml"]
        document["against"]["manifests"] = ["examples/lab/server-careful.yaml"]
    (tmp_path / "page.html").write_text(page(document).replace("<details>", "<details open>"))
    async with browser.page(f"file://{tmp_path}/page.html") as shown:
        for width in WIDTHS:
            await shown.show(width, 900)
            assert await shown.run(CUT) == [], width
            assert await shown.run(OVER) == [], width
