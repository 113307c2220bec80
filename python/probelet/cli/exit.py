"""The ends of a verb that cannot do its work: one line, and one of four exit codes."""

from enum import IntEnum

from probelet.errors import ProbeletError


class Exit(IntEnum):
    """The exit codes of every verb; docs/exit-codes.md has the table.

    A second signal ends ``run`` with 128 + its number, as in a shell.
    """

    GOOD = 0
    FAILED = 1
    USAGE = 2
    CANNOT = 3


EXIT_CODES = (
    "Exit codes: 0 success; 1 the examined thing fails; 2 bad input or usage;\n"
    "3 the verb cannot work here (for example: no service runs)."
)


class CliError(ProbeletError):
    """Ends a verb. ``lines`` go to stderr, one per mistake; ``hint`` is a command to try next."""

    def __init__(self, *lines: str, code: Exit = Exit.USAGE, hint: str | None = None) -> None:
        super().__init__(*lines)
        self.lines = lines
        self.code = code
        self.hint = hint
