"""stdout that takes nothing."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize(
    ("redirection", "why"), [("> /dev/full", "No space left on device"), (">&-", "Bad file descriptor")]
)
@pytest.mark.parametrize("verb", ["version", "backoff table -o json"])
def test_an_output_that_cannot_be_written_is_one_line(verb: str, redirection: str, why: str) -> None:
    command = f"exec {sys.executable} -m probelet {verb} {redirection}"
    ended = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (3, f"probelet: cannot write to stdout: {why}\n")
