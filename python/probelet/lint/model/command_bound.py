"""How long a command may be that rules read."""

from typing import Final

COMMAND_CHARS_MAX: Final = 16 * 1024
"""Characters of a command with its words. A script in a manifest has a tenth of them; a dozen rules read each command,
and what they find in it stays in memory (``command/statements.py``)."""


def chars(command: list[str]) -> int:
    """The characters of a command, with one between two words."""
    return sum(len(word) + 1 for word in command) - 1


def bounded(command: list[str]) -> list[str]:
    """The command as rules read it; empty if it is too long."""
    return command if chars(command) <= COMMAND_CHARS_MAX else []
