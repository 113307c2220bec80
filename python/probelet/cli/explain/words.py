"""The bounds for a person: a table and a few sentences for each probe, 80 columns wide."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from probelet.cli.explain.rows import COLUMNS, Row, rows, seconds_text, title
from probelet.lab.explain import Explained
from probelet.spec.model.probe import Probe
from probelet.spec.model.probe_options import options_of

INDENT = "  "


def sentences(found: Sequence[Explained]) -> list[str]:
    """The lines about all probes."""
    if not found:
        return ["no container has a probe"]
    blocks = ["\n".join(_block(each)) for each in found]
    return "\n\n".join(blocks).split("\n")


def _block(explained: Explained) -> Iterator[str]:
    yield title(explained)
    yield from _text(_fields(explained))
    yield f"{'':<28}{'earliest':>9}{'typical':>9}{'latest':>9}"
    yield from (_line(row) for row in rows(explained))
    for sentence in _meaning(explained):
        yield from _text(sentence)


def _line(row: Row) -> str:
    times = "".join(f"{seconds_text(value):>9}" for value in row.span)
    return f"{INDENT}{row.what:<26}{times} {row.since}"


def _text(sentence: str) -> list[str]:
    return wrap(sentence, COLUMNS, initial_indent=INDENT, subsequent_indent=INDENT)


def _fields(explained: Explained) -> str:
    probe = explained.probe
    parts = [f"{probe.handler} every {probe.period_seconds} s", f"timeout {probe.timeout_seconds} s"]
    if probe.initial_delay_seconds:
        parts.append(f"initial delay {probe.initial_delay_seconds} s")
    if probe.success_threshold > 1:
        parts.append(f"success threshold {probe.success_threshold}")
    options = options_of(probe)
    if options.failures is None:
        parts.append(f"failure threshold {probe.failure_threshold}")
    else:
        parts.append(f"a failure is {options.failures.at} failed of the last {options.failures.of}")
    for name, pace in (
        ("every", options.period_milliseconds),
        ("until the first success every", options.until_ready_milliseconds),
        ("after a failure every", options.when_failing_milliseconds),
    ):
        if pace is not None:
            parts.append(f"{name} {seconds_text(pace / 1000)}" if pace % 1000 == 0 else f"{name} {pace} ms")
    if options.network is not None:
        otherwise = "ordinary attempts" if options.network_fallback == "ordinary" else "prober errors"
        parts.append(f"from inside the pod's network (where it cannot be entered: {otherwise})")
    if options.errors is not None:
        which = "errors" if options.errors.causes is None else f"errors ({', '.join(options.errors.causes)})"
        parts.append(f"{which} count from number {options.errors.failure_after} in a row on")
    if options.hysteresis is not None:
        parts.append(f"a success slower than {options.hysteresis.slower_than_milliseconds} ms counts half")
    if probe.initialization_failure_threshold > probe.failure_threshold:
        parts.append(f"{probe.initialization_failure_threshold} before the first success")
    return ", ".join(parts)


def _meaning(explained: Explained) -> Iterator[str]:
    probe, bounds = explained.probe, explained.bounds
    if explained.waits_for_startup:
        yield "This probe waits for the startup probe."
    if explained.type == "readiness":
        yield "While the container is not ready, each sync of the pod runs this probe too, so it may be ready sooner."
    if probe.timeout_seconds > probe.period_seconds:
        yield (
            f"An attempt may take {probe.timeout_seconds} s, longer than the period of {probe.period_seconds} s: slow "
            "attempts then follow each other without a pause."
        )
    if explained.kills_unstarted and bounds.startup_budget is not None:
        budget, promised = bounds.startup_budget, explained.promised_seconds
        yield (
            f"The start may take {seconds_text(budget.earliest)} for sure, not {_budgeted(probe)} x periodSeconds = "
            f"{promised} s; after {seconds_text(budget.latest)} the container is killed in any case."
        )
    if explained.type != "readiness":
        yield f"A kill gives the container {explained.grace_seconds} s from SIGTERM to SIGKILL."
        yield from _loop(explained)
    if explained.type == "liveness" and explained.hold_kills != "off":
        shared = ", or several workloads share a fault" if explained.hold_kills == "shared" else ""
        yield (
            f"While an incident is open in which probelet itself is late{shared}, the kill waits, at most for the "
            "node's holdKillsFor: 5 minutes unless it says otherwise."
        )
    if explained.has_post_start:
        yield "The probes of this container begin when its postStart hook has ended."


def _budgeted(probe: Probe) -> str:
    return "failureThreshold" if options_of(probe).failures is None else "failures.at"


def _loop(explained: Explained) -> Iterator[str]:
    loop = explained.crash_loop
    if not explained.kills_unstarted:
        return
    if loop is None:
        yield "A killed container is not started again."
    elif not loop.plateau_seconds:
        yield "A container that never succeeds is restarted at once, again and again: it runs longer than any delay."
    else:
        yield (
            f"A container that never succeeds waits {loop.plateau_seconds} s before restart {loop.after_restarts}, and "
            "from there on before every second one: the others come at once."
        )
