"""The outcome of an exec attempt in the form that the engine takes."""

from probelet._rust import ExecEnd
from probelet.runtime.cri.exec import ExecOutcome


def exec_end(run: int, outcome: ExecOutcome) -> ExecEnd:
    """The end of the attempt ``run``."""
    match outcome.kind:
        case "exit":
            return ExecEnd.exit(run, outcome.exit_code, outcome.output)
        case "timeout":
            return ExecEnd.timeout(run, outcome.output)
        case "starved":
            return ExecEnd.starved(run, outcome.output)
        case "error":
            return ExecEnd.error(run, outcome.output)
