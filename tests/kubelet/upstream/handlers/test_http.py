"""kubelet pkg/probe/http/http_test.go and request_test.go, 1.36: rows H1 to H18 and H20 to H25."""

import threading
from typing import Any

import pytest

from tests.kubelet.upstream.ask import ask, closed_port
from tests.kubelet.upstream.row import row
from tests.support.web import Reply, Request, Server

pytestmark = pytest.mark.e2e

Headers = list[tuple[str, str]]


def get(server: Server, headers: Headers | None = None, path: str = "/", **figures: int) -> dict[str, Any]:
    listed = [{"name": name, "value": value} for name, value in headers or []]
    return ask({"httpGet": {"path": path, "port": server.port, "httpHeaders": listed}, **figures})


def ok(request: Request) -> Reply:
    return 200, {}, "ok body"


@row("H1")
def test_a_200_answer_succeeds_with_its_body(row: str) -> None:
    with Server(ok) as server:
        report = get(server)
    assert (report["outcome"], report["output"]) == ("success", "ok body")


@row("H2-3 headers")
def test_a_probe_without_headers_sends_three(row: str) -> None:
    with Server(lambda request: (200, {}, str(len(request.names)))) as server:
        assert get(server)["output"] == "3"


@row("H3-Accept, Connection, User-Agent")
def test_a_probe_without_headers_sends_accept_connection_and_user_agent(row: str) -> None:
    with Server(lambda request: (200, {}, " ".join(sorted(request.names)))) as server:
        assert get(server)["output"] == "Accept Connection User-Agent"


ECHOED: list[tuple[str, Headers, dict[str, list[str]]]] = [
    ("H4-gzip", [("Accept-Encoding", "gzip")], {"Accept-Encoding": ["gzip"]}),
    ("H4-foo", [("Accept-Encoding", "foo")], {"Accept-Encoding": ["foo"]}),
    ("H4-empty", [("Accept-Encoding", "")], {"Accept-Encoding": [""]}),
    ("H5-muffins", [("X-Muffins-Or-Cupcakes", "muffins")], {"X-Muffins-Or-Cupcakes": ["muffins"]}),
    ("H6-own agent", [("User-Agent", "foo/1.0")], {"User-Agent": ["foo/1.0"]}),
    ("H7-no agent", [("User-Agent", "")], {"User-Agent": []}),
    ("H8-defaults", [], {"User-Agent": ["kube-probe/1.36"], "Accept": ["*/*"], "Accept-Encoding": []}),
    ("H9-text/html", [("Accept", "text/html")], {"Accept": ["text/html"]}),
    ("H9-foo", [("Accept", "foo/*")], {"Accept": ["foo/*"]}),
    (
        "H9-with agent and muffins",
        [("User-Agent", "foo/1.0"), ("X-Muffins-Or-Cupcakes", "muffins"), ("Accept", "text/html")],
        {"User-Agent": ["foo/1.0"], "X-Muffins-Or-Cupcakes": ["muffins"], "Accept": ["text/html"]},
    ),
    ("H10-no accept", [("Accept", "")], {"Accept": []}),
    ("H10-with agent", [("Accept", ""), ("User-Agent", "foo/1.0")], {"Accept": [], "User-Agent": ["foo/1.0"]}),
    ("H11-other host", [("Host", "muffins.cupcakes.org")], {"Host": ["muffins.cupcakes.org"]}),
]


@pytest.mark.parametrize(("headers", "seen"), [pytest.param(*case[1:], id=case[0]) for case in ECHOED])
def test_the_headers_of_a_probe_replace_the_default_ones(headers: Headers, seen: dict[str, list[str]]) -> None:
    with Server(ok) as server:
        assert get(server, headers)["outcome"] == "success"
    (request,) = server.requests
    assert {name: request.values(name) for name in seen} == seen


@row("H12")
def test_a_connection_that_ends_without_an_answer_fails(row: str) -> None:
    with Server(lambda request: None) as server:
        report = get(server)
    assert (report["result"], report["error"]) == ("failure", None)


@row("H13")
def test_a_500_answer_fails_without_its_body(row: str) -> None:
    with Server(lambda request: (500, {}, "secret")) as server:
        report = get(server)
    assert (report["result"], report["output"]) == ("failure", "HTTP probe failed with statuscode: 500")


@row("H14")
def test_an_http_answer_after_the_timeout_fails(row: str) -> None:
    over = threading.Event()

    def late(request: Request) -> None:
        over.wait(3)

    with Server(late) as server:
        report = get(server, timeoutSeconds=1)
        over.set()
    assert (report["result"], report["error"]) == ("failure", None)
    assert "Client.Timeout exceeded while awaiting headers" in report["output"]


def redirecting(status: int, target: str, text: str = "") -> Reply:
    return status, {"Location": target}, text


@pytest.mark.parametrize("code", [pytest.param(code, id=f"H15-{code}") for code in (301, 302, 307, 308)])
def test_a_redirect_to_a_200_answer_succeeds(code: int) -> None:
    with Server(lambda request: redirecting(code, "/new") if request.path == "/" else (200, {}, "")) as server:
        assert get(server)["outcome"] == "success"
    assert [request.path for request in server.requests] == ["/", "/new"]


@pytest.mark.parametrize("code", [pytest.param(code, id=f"H16-{code}") for code in (301, 302, 307, 308)])
def test_a_redirect_to_a_500_answer_fails(code: int) -> None:
    with Server(lambda request: redirecting(code, "/new") if request.path == "/" else (500, {}, "")) as server:
        assert get(server)["output"] == "HTTP probe failed with statuscode: 500"


@pytest.mark.parametrize(
    ("text", "output"),
    [
        pytest.param("", "Probe terminated redirects, Response body: ", id="H17-empty body"),
        pytest.param("ok body", "Probe terminated redirects, Response body: ok body", id="H17-body"),
    ],
)
def test_a_redirect_without_a_location_is_a_warning(text: str, output: str) -> None:
    with Server(lambda request: redirecting(308, "/new") if request.path == "/" else (308, {}, text)) as server:
        report = get(server)
    assert (report["outcome"], report["output"]) == ("warning", output)


@pytest.mark.parametrize(
    ("target", "outcome"),
    [
        pytest.param("/success", "success", id="H18-local success"),
        pytest.param("/fail", "failure", id="H18-local failure"),
        pytest.param("http://127.0.0.1:{other}/success", "success", id="H18-other port success"),
        pytest.param("http://127.0.0.1:{other}/fail", "failure", id="H18-other port failure"),
        pytest.param("http://0.0.0.0/fail", "warning", id="H18-non-local"),
        pytest.param("/loop", "failure", id="H18-loop"),
    ],
)
def test_a_probe_follows_redirects_only_on_its_own_host(target: str, outcome: str) -> None:
    def answer(request: Request) -> Reply:
        match request.path:
            case "/redirect":
                return redirecting(302, target.format(other=other.port))
            case "/loop":
                return redirecting(302, "/loop")
        return (200 if request.path == "/success" else 500), {}, ""

    with Server(answer) as other, Server(answer) as server:
        assert get(server, path="/redirect")["outcome"] == outcome


@pytest.mark.parametrize(
    ("host", "outcome"),
    [
        pytest.param("www.success.com", "success", id="H20-success"),
        pytest.param("www.fail.com", "failure", id="H20-failure"),
    ],
)
def test_the_host_header_goes_with_a_redirect(host: str, outcome: str) -> None:
    def answer(request: Request) -> Reply:
        if request.path != "/success":
            return redirecting(302, "/success")
        return (200 if request.values("Host") == ["www.success.com"] else 400), {}, ""

    with Server(answer) as server:
        assert get(server, [("Host", host)])["outcome"] == outcome


@pytest.mark.parametrize(
    ("length", "kept"),
    [pytest.param(10241, 10240, id="H21-longer"), pytest.param(10239, 10239, id="H22-not longer")],
)
def test_a_body_is_cut_after_10_kib(length: int, kept: int) -> None:
    with Server(lambda request: (200, {}, "a" * length)) as server:
        report = get(server)
    assert (report["outcome"], report["output"]) == ("success", "a" * kept)


@pytest.mark.parametrize("name", ["H23-http_proxy", "H23-HTTP_PROXY", "H23-all_proxy"])
def test_a_proxy_of_the_environment_is_not_used(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(ok) as proxy, Server(ok) as server:
        monkeypatch.setenv(name.removeprefix("H23-"), f"http://127.0.0.1:{proxy.port}")
        assert get(server)["outcome"] == "success"
    assert (len(server.requests), proxy.requests) == (1, [])


@pytest.mark.parametrize(
    ("scheme", "path", "suffix"),
    [
        pytest.param("HTTP", "", "", id="H24-no path"),
        pytest.param("HTTPS", "/path", "/path", id="H24-https"),
        pytest.param("HTTP", "?foo", "?foo", id="H24-query alone"),
        pytest.param("HTTPS", "/path?bar", "/path?bar", id="H24-path and query"),
    ],
)
def test_the_url_of_a_request_has_the_probes_scheme_host_port_and_path(scheme: str, path: str, suffix: str) -> None:
    port = closed_port()
    report = ask({"httpGet": {"scheme": scheme, "host": "localhost", "port": port, "path": path}})
    assert report["output"].startswith(f'Get "{scheme.lower()}://localhost:{port}{suffix}": dial tcp ')


@pytest.mark.parametrize(
    ("headers", "lines"),
    [
        pytest.param([("HOST", "a.example")], [("Host", "a.example")], id="H25-HOST"),
        pytest.param([("FOO-bAR", "x")], [("Foo-Bar", "x")], id="H25-FOO-bAR"),
        pytest.param([("accept", "a/b"), ("Accept", "c/d")], [("Accept", "a/b"), ("Accept", "c/d")], id="H25-accept"),
        pytest.param([], [("Accept", "*/*")], id="H25-none"),
    ],
)
def test_header_names_are_canonical(headers: Headers, lines: Headers) -> None:
    with Server(ok) as server:
        get(server, headers)
    (request,) = server.requests
    assert [line for line in request.lines if line[0] == lines[0][0]] == lines
