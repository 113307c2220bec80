"""The picture as an SVG file of its own: what the page says around the drawing stands in it as text."""

import textwrap
from typing import Final

from probelet.lab.picture.document import SimulateDocument
from probelet.lab.picture.markup import (
    CHARACTER_WIDTH,
    TITLE_MAX,
    clipped,
    element,
    escaped,
    label,
    line,
    number,
    shortened,
)
from probelet.lab.picture.theme import TEXTURES, style
from probelet.lab.picture.timeline import WIDE, Detail, Drawing, draw
from probelet.lab.picture.wording import figures, grade, headline, names_of, runs_of, summary, title_of

MARGIN: Final = 20.0
FOOT_CHARACTERS: Final = 150
FOOT_LINES: Final = 6
BYTES_MAX: Final = 150_000
DETAILS: Final = (
    *(Detail(column, has_titles=True) for column in (1.0, 2.0)),
    *(Detail(column, has_titles=False) for column in (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 14.0, 20.0, 40.0)),
)
"""The details that a picture gives up to keep its size, step by step: detail, what a pointer shows, more detail."""


def svg(document: SimulateDocument) -> str:
    """The picture with title, verdict and the command that plays it again; light or dark as its reader likes."""
    head, top = _head(document)
    drawing = bounded(document, WIDE, BYTES_MAX)
    foot, bottom = _foot(document, top + drawing.height)
    body = head + element("g", drawing.markup, transform=f"translate(0 {number(top)})") + foot
    width, height = WIDE + 2 * MARGIN, bottom + 2 * MARGIN
    tag = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(width)} {number(height)}" role="img"'
    return (
        f'{tag} width="{number(width)}" height="{number(height)}"><title>{escaped(_title(document))}</title>'
        f'<style>{style()}</style><defs>{TEXTURES}</defs><rect class="bg" width="100%" height="100%"/>'
        f'<g transform="translate({number(MARGIN)} {number(MARGIN)})">{body}</g></svg>\n'
    )


def inline(document: SimulateDocument, width: float, bytes_max: int) -> str:
    """The drawing alone, for a page that has the style and the textures."""
    drawing = bounded(document, width, bytes_max)
    css = "wide" if width >= WIDE else "narrow"
    return (
        f'<svg class="{css}" viewBox="0 0 {number(drawing.width)} {number(drawing.height)}" role="img"'
        f' aria-label="{escaped(_title(document))}">{drawing.markup}</svg>'
    )


def bounded(document: SimulateDocument, width: float, bytes_max: int) -> Drawing:
    """The drawing with the most detail that keeps it within its size."""
    wanted = 0.0
    for detail in DETAILS:
        if detail.column < wanted and detail is not DETAILS[-1]:
            continue
        drawing = draw(document, width, detail)
        size = len(drawing.markup.encode())
        if size <= bytes_max:
            break
        # The size falls more slowly than the columns widen, so no detail that would fit is passed over.
        wanted = 0.0 if detail.has_titles else detail.column * size / bytes_max
    return drawing


def _title(document: SimulateDocument) -> str:
    return shortened(title_of(document), TITLE_MAX)


def _head(document: SimulateDocument) -> tuple[str, float]:
    scenario = document["scenario"]
    drawn, y = [], 12.0
    drawn.append(label(0, y, clipped(f"{scenario['title']} ({scenario['name']})", WIDE, 11), "z"))
    runs = runs_of(document)
    for run, name in zip(runs, names_of(runs), strict=True):
        css, sign = grade(run)
        drawn.append(label(0, y + 32, f"{sign} {headline(run, scenario)}", f"V {css}"))
        if len(runs) > 1:
            drawn.append(label(WIDE, y + 32, clipped(name, WIDE / 2, 12), "h", "end"))
        y += 32
        numbers = ", ".join(f"{name} {value}" for name, value in figures(run["verdict"]))
        width = int(WIDE / (12 * CHARACTER_WIDTH))
        for text in (*textwrap.wrap(summary(run, scenario), width), *textwrap.wrap(numbers, width)):
            y += 18
            drawn.append(label(0, y, text))
    return "".join(drawn), y + 18


def _foot(document: SimulateDocument, top: float) -> tuple[str, float]:
    drawn, y = [line(f"M0 {number(top)}H{number(WIDE)}", "e")], top + 4
    made = f"seed {document['seed']}, probelet {document['probelet']}"
    command = textwrap.wrap(document["command"], FOOT_CHARACTERS, max_lines=FOOT_LINES, placeholder=" …")
    for text in (*command, shortened(made, FOOT_CHARACTERS)):
        y += 15
        drawn.append(label(0, y, text, "M"))
    return "".join(drawn), y
