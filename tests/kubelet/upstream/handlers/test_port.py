"""The port of a probe: rows P1 to P4 (prober_test.go), Q1 to Q3 (util_test.go), T1, T2 (tcp_test.go), kubelet 1.36."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.kubelet.upstream.ask import ask, closed_port
from tests.kubelet.upstream.releases.test_versions import VERSIONS
from tests.kubelet.upstream.row import row
from tests.support.web import Request, Server

pytestmark = pytest.mark.e2e


def http(port: Any, **fields: Any) -> dict[str, Any]:
    return {"httpGet": {"port": port, **fields}}


def tcp(port: Any, **fields: Any) -> dict[str, Any]:
    return {"tcpSocket": {"port": port, **fields}}


BAD = [
    (-1, "invalid port number: -1"),
    ("", 'strconv.Atoi: parsing "": invalid syntax'),
    ("-1", "invalid port number: -1"),
    ("not-found", 'strconv.Atoi: parsing "not-found": invalid syntax'),
    (66666, "invalid port number: 66666"),
]


@pytest.mark.parametrize(
    ("probe", "error"),
    [
        *(pytest.param(http(port), error, id=f"P1-http {port!r}") for port, error in BAD[:4]),
        *(pytest.param(tcp(port, host="1.2.3.4"), error, id=f"P4-tcp {port!r}") for port, error in BAD[:4]),
        pytest.param(tcp(-1), BAD[0][1], id="T2"),
        pytest.param(http(66666), BAD[4][1], id="Q2-int 66666"),
        pytest.param(http("not-found"), BAD[3][1], id="Q1-not found"),
        pytest.param(http("unknown"), 'strconv.Atoi: parsing "unknown": invalid syntax', id="Q3-unknown name"),
    ],
)
def test_a_port_that_cannot_be_resolved_is_a_prober_error(probe: dict[str, Any], error: str) -> None:
    report = ask(probe, ports=[("found", 93)])
    assert (report["outcome"], report["result"], report["error"]) == ("error", "unknown", error)


@pytest.mark.parametrize("version", [pytest.param(each, id=f"V13-{each}") for each in VERSIONS])
@pytest.mark.parametrize("port", ["", "not-found", "93"])
@pytest.mark.parametrize("kind", [http, tcp])
def test_a_text_that_names_no_port_is_no_number_from_1_37_on(
    kind: Callable[[Any], dict[str, Any]], port: str, version: str
) -> None:
    report = ask({**kind(port), "timeoutSeconds": 1}, ports=[("found", 93)], kubelet_version=version)
    if version in ("1.37", "1.38"):
        assert report["error"] == f'port "{port}" not found'
    elif port == "93":
        assert report["error"] is None
    else:
        assert report["error"] == f'strconv.Atoi: parsing "{port}": invalid syntax'


@pytest.mark.parametrize(
    ("kind", "port"),
    [
        pytest.param(http, "found", id="P2-http by name"),
        pytest.param(http, "number", id="P3-http number"),
        pytest.param(http, "text", id="P3-http number as text"),
        pytest.param(tcp, "found", id="P4-tcp by name"),
        pytest.param(tcp, "number", id="P4-tcp number"),
        pytest.param(tcp, "text", id="P4-tcp number as text"),
        pytest.param(http, "found", id="Q1-found"),
        pytest.param(http, "number", id="Q2-int"),
        pytest.param(http, "found", id="Q3-name"),
        pytest.param(tcp, "number", id="T1"),
    ],
)
def test_a_port_that_is_found_is_probed_at_the_pods_address(kind: Any, port: str) -> None:
    with Server(lambda request: (200, {}, "")) as server:
        given = {"found": "found", "number": server.port, "text": str(server.port)}[port]
        # The first of two ports with one name counts, and another container port does not matter.
        ports = [("other", closed_port()), ("found", server.port), ("found", closed_port())]
        report = ask(kind(given), ports=ports)
    assert (report["outcome"], report["error"]) == ("success", None), report
    assert len(server.requests) == (kind is http)


@row("P3-host, port and path")
def test_a_request_uses_host_port_and_path_of_the_probe(row: str) -> None:
    def answer(request: Request) -> tuple[int, dict[str, str], str]:
        return 200, {}, request.path

    with Server(answer) as server:
        report = ask(http(server.port, host="127.0.0.1", path="path"), pod_ip="192.0.2.1")
    assert (report["outcome"], report["output"]) == ("success", "/path")
