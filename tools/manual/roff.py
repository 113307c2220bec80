"""Text as roff, the language of man pages."""

from collections.abc import Iterable


def escaped(text: str) -> str:
    """One line of text in which roff sees no request, escape or typographic sign."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("^", "\\(ha").replace("~", "\\(ti")
    return f"\\&{text}" if text.startswith(".") else text


def bold(text: str) -> str:
    return f"\\fB{escaped(text)}\\fR"


def heading(title: str) -> str:
    return f".SH {title}"


def filled(text: str) -> list[str]:
    """Paragraphs, whose lines the reader's terminal breaks anew."""
    return [line for paragraph in text.split("\n\n") for line in (".PP", *map(escaped, paragraph.splitlines()))]


def verbatim(lines: Iterable[str]) -> list[str]:
    """Lines that stay as they are, indented."""
    return [".PP", ".RS 4", ".nf", *map(escaped, lines), ".fi", ".RE"]


def item(label: str, text: str) -> list[str]:
    return [".TP", label, escaped(" ".join(text.split()))]
