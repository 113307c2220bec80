"""What every verb's own command line has in common."""

from cyclopts import App


def verb(name: str, more: str, *examples: str) -> App:
    """The application of one verb, whose ``--help`` begins with its line in ``verbs`` and ends with the examples.

    ``more`` is what that line does not say, at most 80 columns wide; each of ``examples`` is a whole command line.
    """
    lines = "\n".join(["Examples:", *(f"  {line}" for line in examples)])
    return App(name=name, help_epilogue=f"{more}\n\n{lines}" if more else lines)
