"""Starting a process for a container: its environment, and the words for a command that cannot start."""

import errno
import os
import subprocess
from collections.abc import Mapping, Sequence

from probelet.cri import errors
from probelet.cri.v1 import api_pb2
from probelet.spec.text.golang import go_quote

CONTAINER_VARIABLE = b"PROBELET_CONTAINER_ID"
"""In the environment of every process of a container: it finds those that left its session."""

ROOT_VARIABLE = b"PROBELET_RUNTIME_ROOT"
"""In the environment of every process of a runtime: it finds those that a runtime killed outright left behind."""

INHERITED = (b"PATH", b"HOME", b"LANG", b"LC_ALL", b"TMPDIR", b"TZ", b"USER")
"""What a container takes over from the runtime; an image would bring these."""


def environment(config: api_pb2.ContainerConfig, container_id: str, pod_ip: str, root: str) -> dict[bytes, bytes]:
    """The environment of a container: inherited, POD_IP, the manifest's own (which wins), and the two marks."""
    result = {name: os.environb[name] for name in INHERITED if name in os.environb}
    if pod_ip:
        result[b"POD_IP"] = pod_ip.encode()
    result |= {os.fsencode(pair.key): pair.value for pair in config.envs}
    return result | {CONTAINER_VARIABLE: container_id.encode(), ROOT_VARIABLE: os.fsencode(root)}


def spawn(argv: Sequence[str], env: Mapping[bytes, bytes], cwd: str, stdout: int, stderr: int) -> int:
    """Start a process in a session of its own; returns its pid, for which the caller must wait.

    Raises ``RuntimeRefused`` or ``InvalidArgument`` with the words runc has for it.
    """
    try:
        process = subprocess.Popen(
            argv,
            env=env,
            cwd=cwd or None,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    except ValueError as error:
        raise errors.InvalidArgument(f"exec: {go_quote(argv[0])}: {error}") from None
    except OSError as error:
        raise errors.RuntimeRefused(refusal(error, argv[0], cwd)) from None
    # The reaper waits for every child. An object that thinks its process still runs would wait for it as well, from
    # its finalizer, and take the exit code away.
    process.returncode = 0
    return process.pid


def refusal(error: OSError, program: str, cwd: str) -> str:
    """Why a command did not start, as runc says it."""
    reason = (error.strerror or str(error)).lower()
    if cwd and error.filename == cwd:
        return f"chdir to cwd ({go_quote(cwd)}) failed: {reason}"
    if error.errno == errno.ENOENT and "/" not in program:
        return f"exec: {go_quote(program)}: executable file not found in $PATH"
    return f"exec: {go_quote(program)}: {reason}"
