"""Which answers of another release count as other ones."""

import base64
from typing import Any

import pytest

from tests.handlers.recorder.unlike import is_unlike, question, settled
from tests.kubelet.recorder.release import KubeletRelease

DEADLINE = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
CANCELED = "net/http: request canceled (Client.Timeout exceeded while awaiting headers)"


def case(output: str, *, name: str = "status_404", kind: str = "status", agent: str = "1.36") -> dict[str, Any]:
    sent = base64.b64encode(f"GET / HTTP/1.1\r\nUser-Agent: kube-probe/{agent}\r\n\r\n".encode()).decode()
    expect = {
        "result": "failure",
        "class": kind,
        "output": output,
        "error": None,
        "received": {"PORT": [{"bytes": sent}]},
    }
    return {"name": name, "expect": expect}


def rpc(text: str, agent: str) -> dict[str, Any]:
    headers = [[":path", "/grpc.health.v1.Health/Check"], ["user-agent", f"kube-probe/{agent}"]]
    rows = [{"h2": [{"type": "HEADERS", "flags": 4, "stream": 1, "headers": headers}]}]
    expect = {"result": "failure", "class": "rpc", "output": text, "error": None, "received": {"PORT": rows}}
    return {"name": "grpc", "expect": expect}


@pytest.mark.parametrize(
    ("before", "now", "unlike"),
    [
        pytest.param(case("a"), case("b"), True, id="another text"),
        pytest.param(case("a"), case("a", agent="1.35"), False, id="another user agent"),
        pytest.param(rpc("a", "1.36 grpc-go/1.79.3"), rpc("a", "1.35 grpc-go/1.72.2"), False, id="another grpc-go"),
        pytest.param(case("a"), case("a", kind="malformed"), False, id="another class of one text"),
        pytest.param(case(DEADLINE, kind="timeout"), case(CANCELED), False, id="another wording of a timeout"),
        pytest.param(case(DEADLINE, kind="timeout"), case("EOF"), True, id="no timeout any more"),
        pytest.param(case("a", name="tcp_reset"), case("b"), False, id="a race of the sockets"),
    ],
)
def test_an_answer_is_unlike_if_more_than_names_and_races_differ(
    before: dict[str, Any], now: dict[str, Any], unlike: bool
) -> None:
    assert is_unlike(before, now) == unlike


def test_what_has_varied_may_vary_again() -> None:
    before = case("a")
    before["expect"] |= {"varies": ["output"], "variants": [{"output": "c", "count": 1}]}
    now = settled(before, case("b"))
    assert (now["expect"]["varies"], now["expect"]["variants"]) == (["output"], [{"output": "c", "count": 1}])
    assert not is_unlike(before, now)


def test_the_class_stays_while_the_texts_do() -> None:
    assert settled(case("a"), case("a", kind="malformed"))["expect"]["class"] == "status"
    assert settled(case("a"), case("b", kind="malformed"))["expect"]["class"] == "malformed"


def test_a_case_names_the_release_that_is_asked() -> None:
    asked = question(case("a"), KubeletRelease("1.35.4"))
    assert (asked["name"], asked["kubernetes"]) == ("1_35_status_404", "k8s.io/kubernetes v1.35.4")
