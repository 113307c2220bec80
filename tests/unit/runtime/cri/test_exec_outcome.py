"""The outcome that each answer to ExecSync becomes (specification: kubelet pkg/probe/exec/exec.go, 1.36)."""

import pytest
from probelet.runtime.cri import errors
from probelet.runtime.cri.exec import OUTPUT_BYTES_MAX, ExecOutcome, outcome_of_answer, outcome_of_error
from probelet.runtime.cri.v1 import api_pb2


@pytest.mark.parametrize("exit_code", [0, 1, 126, 137])
def test_a_command_that_ended_gives_its_exit_code(exit_code: int) -> None:
    answer = api_pb2.ExecSyncResponse(stdout=b"out\n", stderr=b"err\n", exit_code=exit_code)
    assert outcome_of_answer(answer) == ExecOutcome("exit", exit_code, b"out\nerr\n")


def test_output_is_cut_after_stdout_and_stderr_are_joined() -> None:
    answer = api_pb2.ExecSyncResponse(stdout=b"o" * (OUTPUT_BYTES_MAX - 1), stderr=b"ee")
    assert outcome_of_answer(answer).output == b"o" * (OUTPUT_BYTES_MAX - 1) + b"e"


def test_a_huge_stdout_hides_stderr() -> None:
    answer = api_pb2.ExecSyncResponse(stdout=b"o" * OUTPUT_BYTES_MAX, stderr=b"why")
    assert outcome_of_answer(answer).output == b"o" * OUTPUT_BYTES_MAX


def test_deadline_exceeded_is_the_commands_timeout() -> None:
    outcome = outcome_of_error(
        errors.DeadlineExceeded("from the runtime or the client"), ["probe", "p", "a", "liveness"], 1
    )
    assert outcome == ExecOutcome("timeout", -1, b'command timed out: "probe p a liveness" timed out after 1s')
    assert outcome_of_error(errors.DeadlineExceeded(""), ["a", '"'], 90).output.endswith(
        b'"a \\"" timed out after 1m30s'
    )


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (errors.NotFound("no such container"), b"rpc error: code = NotFound desc = no such container"),
        (errors.RuntimeUnavailable("gone"), b"rpc error: code = Unavailable desc = gone"),
        (errors.Canceled("context canceled"), b"rpc error: code = Canceled desc = context canceled"),
        (errors.RuntimeRefused("no"), b"rpc error: code = Unknown desc = no"),
    ],
)
def test_every_other_error_is_a_prober_error(error: errors.CriError, text: bytes) -> None:
    assert outcome_of_error(error, ["true"], 1) == ExecOutcome("error", -1, text)
