"""What a test of the page asks of its layout."""

from typing import Final

WIDTHS: Final = (390, 500, 1280, 3840)
NAMES: Final = "[...document.querySelectorAll('.pod:not([hidden]) .who b')].map((found) => found.textContent).join()"
OVERLAPS: Final = """(() => {
  const texts = "h1, h2, #counts, #as-of, button, label, .legend span, #about li, .who > *, .probe > span";
  const boxes = [...document.querySelectorAll(texts)]
    .map((one) => [one, one.getBoundingClientRect()]).filter(([, box]) => box.width && box.height);
  const found = [];
  for (const [one, a] of boxes) {
    if (a.left < -1 || a.right > innerWidth + 1) found.push(`${one.textContent} is cut`);
    for (const [other, b] of boxes) {
      const apart = a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
      if (one !== other && !one.contains(other) && !other.contains(one) && !apart)
        found.push(`${one.textContent} over ${other.textContent}`);
    }
  }
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth) found.push("scrolls sideways");
  return found;
})()"""
"""Texts that are cut or printed over others, and whether the page scrolls sideways."""
