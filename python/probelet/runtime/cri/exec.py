"""One attempt of an exec probe: calls ExecSync and converts the answer for the prober.

Kubelet pkg/kubelet/prober/prober.go:execInContainer and pkg/probe/exec/exec.go:Probe, 1.36.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from probelet.runtime.cri import errors
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.v1 import api_pb2
from probelet.spec.text.duration import SECOND, format_duration
from probelet.spec.text.golang import go_quote

OUTPUT_BYTES_MAX = 10 * 1024
"""Limit of stdout plus stderr that the prober keeps (kubelet pkg/probe/exec/exec.go:maxReadLength, 1.36)."""


class ExecOutcome(msgspec.Struct, frozen=True):
    """The outcome of one attempt.

    ``exit``: the command ran and ended. ``timeout``: a failure; ``output`` names the command. ``starved``: a timeout
    while the caller itself was late. ``error``: the runtime did not answer or could not run the command, and the prober
    discards the attempt. ``exit_code`` is -1 unless ``kind`` is ``exit``. ``output`` is the command's output, at most
    ``OUTPUT_BYTES_MAX`` bytes, or the error's text.
    """

    kind: Literal["exit", "starved", "timeout", "error"]
    exit_code: int
    output: bytes


def outcome_of_answer(response: api_pb2.ExecSyncResponse) -> ExecOutcome:
    """Joins stdout and stderr, then cuts: a huge stdout hides stderr, as in the kubelet."""
    # Each is cut before, because together they may have the 16 MiB of a whole message.
    output = response.stdout[:OUTPUT_BYTES_MAX] + response.stderr[:OUTPUT_BYTES_MAX]
    return ExecOutcome("exit", response.exit_code, output[:OUTPUT_BYTES_MAX])


def outcome_of_error(error: errors.CriError, argv: Sequence[str], timeout_seconds: int) -> ExecOutcome:
    """DeadlineExceeded, from either side, is the command's timeout; every other error is a prober error."""
    if isinstance(error, errors.DeadlineExceeded):
        return timed_out(argv, timeout_seconds)
    return ExecOutcome("error", -1, str(error).encode())


def timed_out(argv: Sequence[str], timeout_seconds: int) -> ExecOutcome:
    """The outcome of a command that took too long, in the kubelet's words."""
    text = f"command timed out: {go_quote(' '.join(argv))} timed out after {format_duration(timeout_seconds * SECOND)}"
    return ExecOutcome("timeout", -1, text.encode())


async def exec_attempt(
    client: RuntimeClient,
    container_id: str,
    argv: Sequence[str],
    timeout_seconds: int,
    *,
    deadline: float | None = None,
) -> ExecOutcome:
    """Runs one attempt; ``timeout_seconds`` and ``deadline`` are those of ``RuntimeClient.exec_sync``.

    A ``CriError`` becomes an outcome; any other exception passes through.
    """
    try:
        return outcome_of_answer(await client.exec_sync(container_id, argv, timeout_seconds, deadline=deadline))
    except errors.CriError as error:
        return outcome_of_error(error, argv, timeout_seconds)
