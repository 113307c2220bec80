"""The program ip(8), which makes bridges and veth pairs."""

import os
import shutil
import subprocess
from collections.abc import Sequence

from probelet.errors import ProbeletError

COMMAND_SECONDS = 10.0
"""Limit of one call of ip; it takes milliseconds."""


class IsolationError(ProbeletError):
    """Namespaces cannot be made here; the message is one line for the user."""


def ip_program() -> str:
    """The path of ip. Raises IsolationError."""
    # The PATH of a user without rights may lack the directories of system programs.
    found = shutil.which("ip", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if found is None:
        raise IsolationError("--isolate namespace: needs the program ip (package iproute2)")
    return found


def ip(*arguments: str) -> None:
    """Runs ip. Raises IsolationError with its words. Only where no reaper waits for children."""
    try:
        command: Sequence[str] = (ip_program(), *arguments)
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=COMMAND_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise IsolationError(f"--isolate namespace: ip {' '.join(arguments)}: {error}") from None
    if ended.returncode:
        raise IsolationError(f"--isolate namespace: ip {' '.join(arguments)}: {first_line(ended.stderr)}")


def first_line(output: bytes) -> str:
    """The first line that a program wrote."""
    return output.decode(errors="replace").strip().partition("\n")[0]
