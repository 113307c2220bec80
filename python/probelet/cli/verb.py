"""The common part of every verb's command line."""

from cyclopts import App


def verb(name: str, more: str, *examples: str) -> App:
    """The application of one verb: ``--help`` begins with its line in ``verbs`` and ends with the examples.

    ``more`` explains beyond that line, at most 80 columns wide; each of ``examples`` is a complete command line.
    """
    lines = "\n".join(["Examples:", *(f"  {line}" for line in examples)])
    return App(name=name, help_epilogue=f"{more}\n\n{lines}" if more else lines)
