"""``--since`` and ``--until``."""

from typing import TYPE_CHECKING

from probelet.cli.exit import CliError

if TYPE_CHECKING:
    from probelet.lab.recording import Recording
    from probelet.lab.whatif import Window


def window(recording: "Recording", since: str | None, until: str | None) -> "Window":
    """The time that the user wants. Raises CliError for a text that is no time, and for one
    that is over before it begins."""
    from probelet.lab.whatif import Window
    from probelet.lab.whatif.outages import NEVER

    end = recording.stretches[-1].to_us if recording.stretches else 0
    wanted = Window(
        since_us=0 if since is None else _moment("--since", since, end),
        until_us=NEVER if until is None else _moment("--until", until, end),
    )
    if wanted.since_us >= wanted.until_us:
        raise CliError(f"--since {since} is not before --until {until}")
    return wanted


def _moment(option: str, text: str, end_us: int) -> int:
    from probelet.base.exposition.timestamp import unix_ms
    from probelet.spec.text.duration import DurationError, parse_duration

    try:
        return unix_ms(text) * 1_000
    except ValueError:
        pass
    try:
        before = parse_duration(text)
    except DurationError:
        before = -1
    if before < 0:
        wanted = "want a time such as 2026-11-22T14:02:11Z, or a duration before the recording's end such as 1h"
        raise CliError(f'{option}: "{text}" is no time; {wanted}')
    return end_us - before // 1_000
