"""Starts a container's processes: their environment, and the message if a command cannot start."""

import errno
import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.embedded.child.marks import CONTAINER_VARIABLE, ROOT_VARIABLE
from probelet.runtime.embedded.child.user import User
from probelet.runtime.embedded.isolation.namespace import Namespace, within

INHERITED = (b"PATH", b"HOME", b"LANG", b"LC_ALL", b"TMPDIR", b"TZ", b"USER")
"""Variables that a container inherits from the runtime; with images, the image would set them."""
OF_A_USER = (b"HOME", b"TMPDIR", b"USER")
"""The inherited variables about the runtime's own user: another user may not even enter these directories."""


OOM_SCORE_ADJ = 1000
"""A kubelet gives its BestEffort containers the same score: when memory runs out, the kernel kills containers first.
All processes of a node on this runtime may share one memory limit, and without its prober the node has no containers.
"""


def environment(
    config: api_pb2.ContainerConfig,
    container_id: str,
    pod_ip: str,
    root: str,
    host_ip: str = "",
    user: User | None = None,
) -> dict[bytes, bytes]:
    """A container's environment: inherited or of its ``user``, POD_IP and HOST_IP if there are any, the manifest's own
    (which override), and the two marks."""
    result = {name: os.environb[name] for name in INHERITED if name in os.environb}
    if user is not None:
        result = {name: value for name, value in result.items() if name not in OF_A_USER} | user.variables()
    if pod_ip:
        result[b"POD_IP"] = pod_ip.encode()
    if host_ip:
        result[b"HOST_IP"] = host_ip.encode()
    result |= {os.fsencode(pair.key): pair.value for pair in config.envs}
    return result | {CONTAINER_VARIABLE: container_id.encode(), ROOT_VARIABLE: os.fsencode(root)}


def spawn(
    argv: Sequence[str],
    env: Mapping[bytes, bytes],
    cwd: str,
    stdout: int,
    stderr: int,
    namespace: Namespace | None = None,
    user: User | None = None,
) -> int:
    """Starts a process in its own session; returns its pid, for which the caller must wait.

    The process runs in the network ``namespace``; None: the machine's. It runs as ``user``; None: as this process.

    Raises ``RuntimeRefused`` or ``InvalidArgument`` with runc's message.
    """
    try:
        if user is not None:
            # A program may open /dev/stdout, which is the pipe and ours. runc does the same (fixStdioPermissions).
            for stream in (stdout, stderr):
                os.fchown(stream, user.uid, user.gid)
        with within(namespace):
            process = subprocess.Popen(
                argv,
                env=env,
                cwd=cwd or None,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
                user=None if user is None else user.uid,
                group=None if user is None else user.gid,
                extra_groups=None if user is None else user.groups,
            )
    except ValueError as error:
        raise errors.InvalidArgument(f"exec: {quoted(argv[0])}: {error}") from None
    except OSError as error:
        raise errors.RuntimeRefused(refusal(error, argv[0], cwd)) from None
    # Only the reaper may wait for children. A Popen that believes its process alive would also wait, in its finalizer,
    # and take the exit code.
    process.returncode = 0
    # The process may have ended already.
    with suppress(OSError):
        Path(f"/proc/{process.pid}/oom_score_adj").write_text(str(OOM_SCORE_ADJ))
    return process.pid


def quoted(text: str) -> str:
    """Go's form of a text in a message. A runtime that starts every command needs no part of ``spec``, which would be
    a sixth of the runtime's start."""
    from probelet.spec.text.golang import go_quote

    return go_quote(text)


def refusal(error: OSError, program: str, cwd: str) -> str:
    """The reason why a command did not start, in runc's words."""
    reason = (error.strerror or str(error)).lower()
    if cwd and error.filename == cwd:
        return f"chdir to cwd ({quoted(cwd)}) failed: {reason}"
    if error.errno == errno.ENOENT and "/" not in program:
        return f"exec: {quoted(program)}: executable file not found in $PATH"
    return f"exec: {quoted(program)}: {reason}"
