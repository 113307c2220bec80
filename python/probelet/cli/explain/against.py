"""Two versions of manifests side by side: only what differs."""

from collections.abc import Iterator, Sequence

from probelet.cli.explain.rows import rows, seconds_text, title
from probelet.lab.explain import Explained, Span

WHAT, VALUE = 30, 24

_FIELDS = {
    "initial_delay_seconds": "initialDelaySeconds",
    "period_seconds": "periodSeconds",
    "timeout_seconds": "timeoutSeconds",
    "success_threshold": "successThreshold",
    "failure_threshold": "failureThreshold",
    "initialization_failure_threshold": "initializationFailureThreshold",
}


def changes(found: Sequence[Explained], other: Sequence[Explained]) -> list[str]:
    """The lines about probes that differ; ``other`` is the version that ``--against`` names."""
    ours = {each.key: each for each in found}
    theirs = {each.key: each for each in other}
    blocks = [
        "\n".join(lines) for key in ours | theirs if (lines := list(_differences(ours.get(key), theirs.get(key))))
    ]
    return "\n\n".join(blocks).split("\n") if blocks else ["no probe differs in its seconds"]


def _differences(here: Explained | None, there: Explained | None) -> Iterator[str]:
    if here is None or there is None:
        present = here or there
        assert present is not None
        yield title(present)
        yield f"  only in {'FILE' if there is None else '--against'}"
        return
    changed = [line for what, *values in _pairs(here, there) if values[0] != values[1] for line in _line(what, *values)]
    if changed:
        yield title(here)
        yield from _line("", "FILE", "--against")
        yield from changed


def _pairs(here: Explained, there: Explained) -> Iterator[tuple[str, str, str]]:
    for name, field in _FIELDS.items():
        yield field, str(getattr(here.probe, name)), str(getattr(there.probe, name))
    ours, theirs = ({row.what: row.span for row in rows(each)} for each in (here, there))
    for what in ours | theirs:
        yield what, _span(ours.get(what)), _span(theirs.get(what))
    yield "grace of a kill", f"{here.grace_seconds} s", f"{there.grace_seconds} s"


def _span(span: Span | None) -> str:
    return "never" if span is None else f"{span.earliest} to {seconds_text(span.latest)}"


def _line(what: str, here: str, there: str) -> Iterator[str]:
    yield f"  {what:<{WHAT}}{here:<{VALUE}}{there}".rstrip()
