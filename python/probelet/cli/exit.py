"""How a verb ends when it cannot do what it was asked: one line, and one of four exit codes."""

from enum import IntEnum

from probelet.errors import ProbeletError


class Exit(IntEnum):
    """The exit codes of every verb; a second signal ends ``run`` at once with 128 + its number, as a shell says it."""

    GOOD = 0
    FAILED = 1
    USAGE = 2
    CANNOT = 3


EXIT_CODES = (
    "Exit codes: 0 good; 1 what was examined fails; 2 bad input or usage;\n"
    "3 it could not be done here (for one: no service runs)."
)


class CliError(ProbeletError):
    """Ends a verb. ``lines`` go to stderr, one mistake each; ``hint`` says what to do next."""

    def __init__(self, *lines: str, code: Exit = Exit.USAGE, hint: str | None = None) -> None:
        super().__init__(*lines)
        self.lines = lines
        self.code = code
        self.hint = hint
