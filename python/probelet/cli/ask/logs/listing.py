"""The list of the logs that are kept."""

from datetime import UTC, datetime
from pathlib import Path

from probelet.base.logs.ended import Kept, kept
from probelet.base.printable import one_line
from probelet.cli.ask.logs.source import kept_runs
from probelet.cli.columns import columns
from probelet.cli.exit import CliError, Exit
from probelet.cli.terminal import complain, print_lines

_HEADS = ("POD -c CONTAINER", "INSTANCES", "KiB", "LAST LINE (UTC)")


def print_list(state_dir: Path, directory: Path | None) -> None:
    """Prints a table for each directory with logs: ``directory``, or every run of ``state_dir``, newest first.

    The path above a table is for ``--from``. Raises CliError.
    """
    shown = 0
    for root in kept_runs(state_dir) if directory is None else [directory]:
        try:
            rows = [_row(found) for found in kept(root)]
        except OSError as error:
            raise CliError(f"{root}: {error.strerror}", code=Exit.CANNOT) from error
        if rows:
            print_lines(*([""] if shown else []), one_line(str(root)), *columns([_HEADS, *rows]))
            shown += 1
    if not shown:
        complain(f"probelet logs: no logs in {directory or state_dir}")


def _row(found: Kept) -> tuple[str, ...]:
    last = datetime.fromtimestamp(found.modified, UTC)
    kibibytes = f"{max(1, round(found.size / 1024)):,}"
    return (
        one_line(f"{found.pod.full_name} -c {found.container}"),
        str(found.instances),
        kibibytes,
        f"{last:%Y-%m-%d %H:%M:%S}",
    )
