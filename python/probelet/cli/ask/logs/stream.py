"""Prints the logs of one pod's containers, and follows them until they end."""

import io
import select
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import BinaryIO, Final

from probelet.base.files import below
from probelet.base.logs.layout import log_name, restart_counts
from probelet.base.logs.pod_logs import ContainerLogs, NoLogError, UnknownContainerError
from probelet.base.logs.reader import LogReader
from probelet.cli.ask.client import NO_SERVICE_HINT
from probelet.cli.ask.logs.printer import LogPrinter
from probelet.cli.ask.logs.source import Found
from probelet.cli.exit import CliError, Exit
from probelet.cli.terminal import byte_output, complain, console
from probelet.server.control.command import NoSuchPodError
from probelet.server.error import NotRunningError

LOOK_MS: Final = 200
"""Pause between two looks for new lines: a person sees no delay."""

ASK_SECONDS: Final = 1.0
"""How often the service is asked whether the containers run (cri-client pkg/logs/logs.go:logForceCheckPeriod, 1.36)."""


@dataclass(frozen=True)
class Wanted:
    """The request of the command line. ``lines`` is None for all of them; ``since_ns`` is Unix nanoseconds."""

    container: str | None = None
    all_containers: bool = False
    previous: bool = False
    follow: bool = False
    lines: int | None = None
    since_ns: int | None = None
    timestamps: bool = False
    prefix: bool = False


@dataclass(frozen=True)
class _OpenLog:
    container: str
    restart_count: int
    reader: LogReader
    printer: LogPrinter

    def print_more(self) -> None:
        self.printer.write(self.reader.more())


def print_logs(found: Found, wanted: Wanted) -> None:
    """Prints the logs. Raises CliError, for logs that are missing after all others are printed."""
    if found.note:
        complain(f"probelet logs: {found.note}")
    out, terminal = byte_output(), console().is_terminal
    missing: list[str] = []
    with ExitStack() as stack:
        open_logs = []
        for container in _chosen(found, wanted):
            try:
                opened = _open(found, container, wanted, out, terminal=terminal)
            except NoLogError as error:
                missing.append(str(error))
                continue
            stack.callback(opened.reader.close)
            stack.callback(opened.printer.close)
            opened.printer.write(opened.reader.blocks(wanted.lines))
            open_logs.append(opened)
        if wanted.follow:
            _follow(found, open_logs, out)
    if missing:
        raise CliError(*missing, code=Exit.FAILED)


def _chosen(found: Found, wanted: Wanted) -> tuple[ContainerLogs, ...]:
    if wanted.all_containers:
        return found.logs.containers
    try:
        container, note = found.logs.choose(wanted.container)
    except UnknownContainerError as error:
        raise CliError(str(error)) from error
    if note:
        complain(*note.splitlines())
    return (container,)


def _open(found: Found, container: ContainerLogs, wanted: Wanted, out: BinaryIO, *, terminal: bool) -> _OpenLog:
    """Raises NoLogError if the container has no such log."""
    logs = found.logs
    folder = logs.directory, container.name
    counts = restart_counts(below.names_in(logs.root, *folder))
    count = logs.instance(container, counts, previous=wanted.previous)
    try:
        reader = LogReader(logs.root, folder, log_name(count))
    except FileNotFoundError:
        raise NoLogError(f'container "{container.name}" in pod "{logs.pod.name}" has no log') from None
    except OSError as error:
        path = logs.root.joinpath(*folder, log_name(count))
        raise CliError(f"{path}: {error.strerror}", code=Exit.CANNOT) from error
    prefix = f"[pod/{logs.pod.name}/{container.name}] " if wanted.prefix else ""
    printer = LogPrinter(out, terminal=terminal, timestamps=wanted.timestamps, prefix=prefix, since_ns=wanted.since_ns)
    return _OpenLog(container.name, count, reader, printer)


def _follow(found: Found, open_logs: list[_OpenLog], out: BinaryIO) -> None:
    """Prints new lines until each container has ended, or nobody reads stdout any more (BrokenPipeError)."""
    closed = select.poll()
    with suppress(io.UnsupportedOperation):
        # Without an event to wait for, the kernel still reports an error or a hangup.
        closed.register(out.fileno(), 0)
    asked = float("-inf")
    while open_logs:
        for log in open_logs:
            log.print_more()
        if time.monotonic() - asked >= ASK_SECONDS:
            running = _running(found, open_logs)
            for log in open_logs:
                if log not in running:
                    # What the container wrote between the look above and its end.
                    log.print_more()
            open_logs = running
            asked = time.monotonic()
        if open_logs and closed.poll(LOOK_MS):
            raise BrokenPipeError


def _running(found: Found, open_logs: list[_OpenLog]) -> list[_OpenLog]:
    """Those whose instance runs. Raises CliError if the service has ended."""
    try:
        now = {container.name: container for container in found.again().containers}
    except NoSuchPodError:
        return []
    except NotRunningError as error:
        for log in open_logs:
            log.print_more()
        raise CliError(str(error), code=Exit.CANNOT, hint=NO_SERVICE_HINT) from error
    return [
        log
        for log in open_logs
        if (container := now.get(log.container)) is not None
        and container.state == "running"
        and container.restart_count == log.restart_count
    ]
