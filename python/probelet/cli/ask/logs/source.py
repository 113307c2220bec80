"""Finds the logs of a pod: the running service tells, and for what has ended the directories do."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from probelet.base.files.trusted_directory import UntrustedError
from probelet.base.logs import ended
from probelet.base.logs.kept import FOLDER
from probelet.base.logs.pod_logs import PodLogs, read_document
from probelet.cli.exit import CliError, Exit
from probelet.server.control.client import Client
from probelet.server.control.command import NoSuchPodError
from probelet.server.control.state_dir import opened
from probelet.server.error import NotRunningError

_NO_SERVICE = "probelet run PATH...   (or --state-dir; or --from /var/log/pods for pods of a CRI runtime)"


@dataclass(frozen=True)
class Found:
    """The logs of a pod. ``client`` is the service that runs it, None for one that has ended."""

    logs: PodLogs
    client: Client | None = None
    note: str = ""

    def again(self) -> PodLogs:
        """The containers as they are now."""
        return self.logs if self.client is None else _asked(self.client, self.logs.pod.full_name)


def find(pod: str, state_dir: Path, directory: Path | None) -> Found:
    """The logs of ``pod``, NAME or NAMESPACE/NAME. Raises CliError."""
    if directory is not None:
        return Found(_only(pod, _in(directory, pod)))
    client = Client(state_dir)
    try:
        return Found(_asked(client, pod), client)
    except NoSuchPodError as error:
        missing = CliError(str(error), hint="probelet status, or probelet logs for the pods that have ended")
    except NotRunningError as error:
        missing = CliError(str(error), code=Exit.CANNOT, hint=_NO_SERVICE)
    for run in kept_runs(state_dir):
        if found := _in(run, pod):
            return Found(_only(pod, found), note=f"the pod has ended; this is its log of the run {run.name}")
    raise missing


def kept_runs(state_dir: Path) -> Iterator[Path]:
    """The directories of the runs that have logs, newest first. A directory of another user is not for this one."""
    try:
        with opened(state_dir) as directory:
            owner = directory.stat().st_uid
            if owner not in (0, os.getuid()):
                raise CliError(f"{state_dir} belongs to uid {owner}; nothing there is read", code=Exit.CANNOT)
            names = sorted((run.name for run in (directory / FOLDER).iterdir()), reverse=True)
    except (FileNotFoundError, NotADirectoryError):
        return
    except UntrustedError as error:
        raise CliError(str(error), code=Exit.CANNOT) from error
    except OSError as error:
        raise CliError(f"{state_dir}: {error.strerror}", code=Exit.CANNOT) from error
    yield from (state_dir / FOLDER / name for name in names)


def _asked(client: Client, pod: str) -> PodLogs:
    try:
        return read_document(client.logs(pod))
    except (KeyError, TypeError, ValueError) as error:
        raise NotRunningError("the service gave an answer that is no description of logs") from error


def _in(directory: Path, pod: str) -> list[PodLogs]:
    try:
        return ended.find(directory, pod)
    except OSError as error:
        raise CliError(f"{directory}: {error.strerror}", code=Exit.CANNOT) from error


def _only(pod: str, found: list[PodLogs]) -> PodLogs:
    if not found:
        raise CliError(f'there is no pod "{pod}"', hint="probelet logs")
    if len(found) > 1:
        names = ", ".join(logs.pod.full_name for logs in found)
        raise CliError(f'pod "{pod}" is in several namespaces: {names}')
    return found[0]
