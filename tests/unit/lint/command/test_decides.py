"""Whether a program's failure is the command's: only then is another host an error."""

import pytest
from probelet.lint.command.decides import decides


@pytest.mark.parametrize(
    "text",
    [
        "curl -f http://orders/",
        "curl -f http://orders/ || exit 1",
        "curl -f http://orders/ || false",
        "curl -f http://orders/ || { exit 1; }",
        "curl -s http://orders/ | grep -q ok",
        "test -f /tmp/up && curl -f http://orders/",
        "set -e; curl -f http://orders/; echo ok",
        "set -eo pipefail; curl -s http://orders/ | tee /tmp/answer",
        "if ! nc -z orders 80; then exit 1; fi",
        "curl -f 'http://orders/?a=1&b=2;c=3'",
        "curl -f http://orders/ # || true",
    ],
)
def test_a_failure_that_ends_the_command_decides(text: str) -> None:
    assert decides(["sh", "-c", text])


@pytest.mark.parametrize(
    "text",
    [
        "curl -f http://orders/ || curl -f http://localhost/",
        "curl -f http://orders/ || true",
        "curl -f http://orders/; test -f /tmp/up",
        "curl -f http://orders/\ntest -f /tmp/up",
        "curl -s http://orders/ | tee /tmp/answer",
        "curl -s http://orders/ | jq .",
        "curl -f http://orders/ & test -f /tmp/up",
        "for h in a b; do nc -z $h 80; done",
        "until nc -z orders 80; do sleep 1; done",
        "if nc -z orders 80; then exit 0; else test -f /tmp/up; fi",
    ],
)
def test_a_command_that_goes_on_is_a_guess(text: str) -> None:
    assert not decides(["sh", "-c", text])


def test_a_command_without_a_shell_decides() -> None:
    assert decides(["pg_isready", "-h", "orders"])
    assert decides(["bash", "-ec", "curl -f http://orders/; echo ok"])
