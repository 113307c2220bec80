"""SVG and HTML as text. Everything foreign goes through `escaped`, so that no name can become markup."""

import html

from probelet.base.printable import one_line

# The average width of a character of a system font, as a share of its size; text is clipped by it, never laid out.
CHARACTER_WIDTH = 0.6


def escaped(text: str) -> str:
    """Text for an element or a quoted attribute; what XML may not contain is written as Go escapes it."""
    return html.escape(one_line(text))


def number(value: float) -> str:
    """A coordinate with at most one decimal, in as few characters as it takes."""
    text = f"{value:.1f}"
    text = text[:-2] if text.endswith(".0") else text
    return "0" if text == "-0" else text


def element(name: str, content: str = "", **attributes: str | float) -> str:
    """An element. ``content`` is markup. ``class_`` stands for ``class``; other underscores become hyphens; an empty
    attribute is left out."""
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{value if isinstance(value, str) else number(value)}"'
        for key, value in attributes.items()
        if value != ""
    )
    return f"<{name}{shown}>{content}</{name}>" if content else f"<{name}{shown}/>"


TITLE_MAX = 240
"""The characters of a title: messages of programs may be long, and a picture has hundreds of titles."""


def titled(title: str) -> str:
    """Returns the title that a pointer shows on the element; ``title`` is plain text, and empty for none."""
    return f"<title>{escaped(shortened(title, TITLE_MAX))}</title>" if title else ""


def label(x: float, y: float, text: str, css: str = "", anchor: str = "", title: str = "") -> str:
    """Text on its baseline. ``anchor`` is ``middle`` or ``end``."""
    return element("text", escaped(text) + titled(title), class_=css, x=x, y=y, text_anchor=anchor)


def box(x: float, y: float, width: float, height: float, css: str, title: str = "") -> str:
    """A rectangle."""
    return element("rect", titled(title), class_=css, x=x, y=y, width=width, height=height)


def line(d: str, css: str, title: str = "") -> str:
    """A path, or nothing if it is empty."""
    return element("path", titled(title), class_=css, d=d) if d else ""


def shortened(text: str, limit: int) -> str:
    """Text of at most ``limit`` characters, and a mark if it was longer."""
    return text if len(text) <= limit else f"{text[:limit]}…"


def clipped(text: str, width: float, size: float) -> str:
    """Text of ``size`` pixels cut in its middle to fit ``width`` pixels: both ends of a pod's name tell it apart."""
    room = max(3, int(width / (size * CHARACTER_WIDTH)))
    if len(text) <= room:
        return text
    tail = (room - 1) // 2
    return f"{text[: room - 1 - tail]}…{text[len(text) - tail :]}"
