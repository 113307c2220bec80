"""Foreign text for a terminal or a log: each escape sequence, and each character that would change the order or the
place of the text around it, is escaped.
"""

import re

# What is printable without a look at Unicode's tables.
_ODD = re.compile("[^ -~]")

# Select Graphic Rendition (ECMA-48): colours and the like, which change neither the place nor the order of the text.
_COLOUR = re.compile("(\x1b\\[[0-9;:]{0,64}m)")


def printable(text: str, keep: str = "") -> str:
    """``text`` with every unprintable character as Go escapes it, but for the characters in ``keep``."""
    return _ODD.sub(lambda match: _shown(match[0], keep), text)


def one_line(text: str) -> str:
    """``printable`` for a person: a line break or another space becomes a blank."""
    return printable("".join(" " if char.isspace() else char for char in text) if not text.isprintable() else text)


def printable_log(text: str) -> str:
    """``printable`` for a log on a terminal: line breaks, tabs and colours stay."""
    return "".join(part if at % 2 else printable(part, keep="\n\t") for at, part in enumerate(_COLOUR.split(text)))


def printable_json(text: str) -> str:
    """A JSON document with every unprintable character escaped, which changes no value; its line breaks stay."""
    return _ODD.sub(lambda match: _escaped(match[0]), text)


def last_line(message: str) -> str:
    """The last line of a message that holds the end of a log, with unprintable characters replaced for a terminal."""
    line = message.rstrip().rpartition("\n")[2]
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in line)


def _shown(char: str, keep: str) -> str:
    if char.isprintable() or char in keep:
        return char
    # The extension is loaded only for a text that needs it: a verb has to start quickly.
    from probelet._rust import go_quote

    return go_quote(char.encode("utf-8", "surrogatepass"))[1:-1]


def _escaped(char: str) -> str:
    if char.isprintable() or char == "\n":
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
