"""``probelet probe`` against real sockets: its requests, output and exit codes."""

import base64
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from probelet.cli.probe import attempt as probe_attempt
from probelet.cli.probe.document import AttemptDocument
from probelet.cli.probe.report import OUTPUT_LINES_MAX
from probelet_conformance.handlers.case.case import Listener
from probelet_conformance.handlers.server.server import Server as CaseServer

from tests.support.web import Reply, Server
from tests.unit.cli.conftest import Probelet, Service

PAGES: dict[str, Reply] = {
    "/healthz": (200, {}, "ok"),
    "/sick": (503, {}, ""),
    "/away": (302, {"Location": "http://elsewhere.invalid/"}, "bye"),
    "/cut": (200, {"Content-Length": "9"}, "ok"),
    "/bytes": (200, {}, b"\xff\n"),
    "/terminal": (200, {}, "\x1b[31mx"),
    "/long": (200, {}, "ha\n" * 20),
}


@pytest.fixture
def target() -> Iterator[Server]:
    with Server(lambda request: PAGES[request.path]) as server:
        yield server


def asked(probelet: Probelet, *arguments: str) -> tuple[int, dict[str, Any]]:
    ended = probelet("probe", *arguments, "-o", "json")
    return ended.code, json.loads(ended.out)


def test_a_success_with_its_timings(probelet: Probelet, target: Server) -> None:
    ended = probelet("probe", "http", "--port", str(target.port), "--path", "/healthz")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0] == f"GET http://127.0.0.1:{target.port}/healthz (timeout 1 s)"
    assert [line.split()[0] for line in lines[1:4]] == ["connect", "headers", "body"]
    assert lines[4].startswith("✓ success in ")
    assert lines[5:] == ["  ok"]


def test_the_document_has_the_keys_of_its_schema(probelet: Probelet, target: Server) -> None:
    code, seen = asked(probelet, "http", "--port", str(target.port), "--path", "/healthz")
    assert code == 0
    assert msgspec.convert(seen, AttemptDocument) == seen
    timings, duration = seen.pop("phases_ms"), seen.pop("duration_ms")
    assert list(timings) == ["connect", "headers", "body"]
    assert sum(timings.values()) <= duration
    assert seen == {
        "schema": "probelet-probe/1",
        "outcome": "success",
        "output": "ok",
        "error": None,
        "cause": "ok",
        "result": "success",
        "tries": 1,
    }


@pytest.mark.parametrize(
    ("path", "code", "outcome", "cause"),
    [
        ("/healthz", 0, "success", "ok"),
        ("/away", 0, "warning", "redirect"),
        ("/sick", 1, "failure", "status"),
        ("/cut", 3, "error", "body"),
    ],
)
def test_the_exit_code_follows_the_probers_result(
    probelet: Probelet, target: Server, path: str, code: int, outcome: str, cause: str
) -> None:
    found, seen = asked(probelet, "http", "--port", str(target.port), "--path", path)
    assert (found, seen["outcome"], seen["cause"]) == (code, outcome, cause)


def test_tries_repeat_an_error_but_not_a_failure(probelet: Probelet, target: Server) -> None:
    code, seen = asked(probelet, "http", "--port", str(target.port), "--path", "/cut", "--tries", "3")
    assert (code, seen["tries"], len(target.requests)) == (3, 3, 3)
    code, seen = asked(probelet, "http", "--port", str(target.port), "--path", "/sick", "--tries", "3")
    assert (code, seen["tries"], len(target.requests)) == (1, 1, 4)


def test_the_request_is_the_kubelets(probelet: Probelet, target: Server) -> None:
    headers = ["--header", "x-one: 1", "--header", "X-Two:2", "--header", "Host:shop.example"]
    ended = probelet("probe", "http", "--port", str(target.port), "--path", "/healthz?a=b", *headers)
    assert ended.code == 0
    assert sorted(target.requests[0].text.splitlines()) == [
        "Accept: */*",
        "Connection: close",
        "GET /healthz?a=b HTTP/1.1",
        "Host: shop.example",
        "User-Agent: kube-probe/1.36",
        "X-One: 1",
        "X-Two: 2",
    ]


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36", "1.37", "1.38"])
def test_the_user_agent_of_another_release(probelet: Probelet, target: Server, version: str) -> None:
    asked(probelet, "http", "--port", str(target.port), "--path", "/healthz", "--kubelet-version", version)
    assert f"User-Agent: kube-probe/{version}" in target.requests[0].text.splitlines()
    manifest = json.dumps({"httpGet": {"path": "/healthz", "port": target.port}})
    asked(probelet, "--spec", manifest, "--kubelet-version", version)
    assert f"User-Agent: kube-probe/{version}" in target.requests[1].text.splitlines()


@pytest.mark.parametrize("version", ["1.37", "1.38"])
def test_since_1_38_a_connection_that_is_refused_is_not_tried_again(probelet: Probelet, version: str) -> None:
    """kubernetes PR 142457; every release is in tests/kubelet/upstream/handlers/test_grpc.py."""
    _, seen = asked(probelet, "grpc", "--port", "1", "--kubelet-version", version)
    assert (seen["cause"] == "connect_timeout") == (version != "1.38"), seen


def test_an_output_that_is_no_text_is_also_in_base64(probelet: Probelet, target: Server) -> None:
    _, seen = asked(probelet, "http", "--port", str(target.port), "--path", "/bytes")
    assert (seen["output"], base64.b64decode(seen["output_base64"])) == ("\N{REPLACEMENT CHARACTER}\n", b"\xff\n")


def test_an_output_cannot_harm_the_terminal_or_fill_it(probelet: Probelet, target: Server) -> None:
    ended = probelet("probe", "http", "--port", str(target.port), "--path", "/terminal")
    assert ended.out.splitlines()[-1] == "  \\x1b[31mx"
    ended = probelet("probe", "http", "--port", str(target.port), "--path", "/long")
    assert ended.out.splitlines()[-1] == f"  ({20 - OUTPUT_LINES_MAX} more lines; -o json has all)"


def test_a_refused_connection_is_a_failure_with_the_kubelets_text(probelet: Probelet) -> None:
    ended = probelet("probe", "tcp", "--port", "1")
    assert ended.code == 1
    lines = ended.out.splitlines()
    assert lines[0] == "connect to 127.0.0.1:1 (timeout 1 s)"
    assert lines[-2].endswith("cause refused")
    assert lines[-1] == "  dial tcp 127.0.0.1:1: connect: connection refused"


def test_a_named_port(probelet: Probelet, target: Server) -> None:
    named = ["--port", "web", "--container-port", "admin=1", "--container-port", f"web={target.port}"]
    found = probelet("probe", "tcp", *named)
    assert (found.code, found.out.splitlines()[0]) == (0, f"connect to 127.0.0.1:{target.port} (timeout 1 s)")
    ended = probelet("probe", "tcp", "--port", "http", "--container-port", "web=1")
    assert (ended.code, ended.err) == (
        3,
        'probelet probe: --port: warning: "http" is not a --container-port, so the run is an error\n',
    )
    assert "counts neither as a failure" in ended.out
    assert 'strconv.Atoi: parsing "http": invalid syntax' in ended.out


def test_the_pod_ip_and_a_host(probelet: Probelet) -> None:
    assert (
        "connect to [::1]:1 (timeout 3 s)" in probelet("probe", "tcp", "--port=1", "--pod-ip=::1", "--timeout=3s").out
    )
    ended = probelet("probe", "http", "--port", "1", "--host", "127.0.0.9", "--scheme", "HTTPS", "--path", "x")
    assert ended.out.splitlines()[0] == "GET https://127.0.0.9:1/x (timeout 1 s)"


MANIFEST = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: app
    image: shop:1
    ports: [{name: http, containerPort: %s}]
    livenessProbe: {httpGet: {port: http, path: /healthz}, timeoutSeconds: 5}
    readinessProbe: {httpGet: {port: http, path: /sick}}
  - name: idle
"""


def test_a_probe_of_a_manifest(probelet: Probelet, target: Server, tmp_path: Path) -> None:
    path = tmp_path / "web.yaml"
    path.write_text(MANIFEST % target.port)
    ended = probelet("probe", "--from", str(path), "--type", "liveness", "--state-dir", str(tmp_path / "none"))
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[:2] == [
        f"GET http://127.0.0.1:{target.port}/healthz (timeout 5 s)",
        "liveness probe of default/web/app",
    ]
    ended = probelet(
        *("probe", "--from", str(path), "--pod", "web", "--container", "app", "--type", "readiness"),
        *("--pod-ip", "127.0.0.1"),
    )
    assert ended.code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--type: Required value: probes of container app: liveness, readiness"),
        (["--type", "startup"], '--type: Not found: "startup": probes of container app: liveness, readiness'),
        (["--container", "idle"], '--container: Not found: "idle": containers of default/web with a probe: app'),
        (["--pod", "shop/web"], '--pod: Not found: "shop/web": pods of web.yaml: default/web'),
        (["--container-port", "a=1"], "--container-port does not go with --from: the container has its own"),
        (["--runtime", "unix:///x", "--type", "liveness"], "--runtime and --container-id belong together"),
        (
            ["--runtime", "unix:///x", "--container-id", "a", "--type", "liveness"],
            "--runtime and --container-id are for exec: other probes go to --pod-ip",
        ),
    ],
)
def test_an_ambiguous_manifest_lists_the_choices(
    probelet: Probelet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("web.yaml").write_text(MANIFEST % "80")
    ended = probelet("probe", "--from", "web.yaml", *arguments, "--state-dir", "none")
    assert (ended.code, ended.out, ended.err) == (2, "", f"probelet probe: {message}\n")


def test_a_type_that_one_container_has_needs_no_name_of_it(probelet: Probelet, target: Server, tmp_path: Path) -> None:
    path = tmp_path / "web.yaml"
    other = f"  - {{name: other, livenessProbe: {{tcpSocket: {{port: {target.port}}}}}}}\n"
    path.write_text(MANIFEST % target.port + other)
    flags = ("probe", "--from", str(path), "--pod-ip", "127.0.0.1", "--type")
    ended = probelet(*flags, "readiness")
    assert (ended.code, ended.out.splitlines()[1]) == (1, "readiness probe of default/web/app")
    required = "probelet probe: --container: Required value: containers of default/web with a"
    assert probelet(*flags, "liveness").err == f"{required} liveness probe: app, other\n"
    assert probelet(*flags, "startup").err == f"{required} probe: app, other\n"


def test_mistakes_of_a_manifest_have_the_messages_of_run(probelet: Probelet, tmp_path: Path) -> None:
    path = tmp_path / "web.yaml"
    path.write_text((MANIFEST % "80").replace("timeoutSeconds: 5", "timeoutSeconds: x"))
    ended = probelet("probe", "--from", str(path))
    assert ended.code == 2
    assert f"{path}:9: spec.containers[0].livenessProbe.timeoutSeconds: Invalid value" in ended.err


@pytest.mark.parametrize("flag", [["--from", "-"], ["--from=-"]])
def test_a_probe_of_a_workload_from_standard_input(
    probelet: Probelet, target: Server, monkeypatch: pytest.MonkeyPatch, flag: list[str]
) -> None:
    head, _, spec = (MANIFEST % target.port).partition("spec:")
    template = "".join(f"    {line}\n" for line in ("spec:" + spec).splitlines())
    text = head.replace("v1", "apps/v1").replace("Pod", "Deployment") + f"spec:\n  template:\n{template}"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    ended = probelet("probe", *flag, "--type", "liveness", "--pod-ip", "127.0.0.1")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[1] == "liveness probe of default/web/app"


def test_a_dash_elsewhere_is_no_standard_input(probelet: Probelet) -> None:
    assert "Unknown option: -" in probelet("status", "-").err


async def test_the_probe_of_a_running_pod_goes_to_its_address(service: Service, tmp_path: Path) -> None:
    path = tmp_path / "web.yaml"
    path.write_text(MANIFEST % "1")
    service.view.document["pods"][0] |= {"ip": "127.9.8.7"}
    ended = await service.ask("probe", "--from", str(path), "--type", "liveness")
    assert ended.code == 1
    assert "dial tcp 127.9.8.7:1" in ended.out


def test_a_raw_probe_is_neither_defaulted_nor_validated(probelet: Probelet, target: Server) -> None:
    spec = {"httpGet": {"port": target.port, "path": "healthz"}, "tcpSocket": {"port": 1}}
    ended = probelet("probe", "--spec", json.dumps(spec))
    assert ended.code == 0
    assert ended.out.splitlines()[0] == f"GET http://127.0.0.1:{target.port}/healthz (no timeout)"
    code, seen = asked(probelet, "--spec", '{"tcpSocket": {"port": 0}}')
    assert (code, seen["cause"], seen["error"]) == (3, "port", "invalid port number: 0")
    code, seen = asked(probelet, "--spec", "{}", "--container-port", "a=1", "--pod-ip", "127.0.0.1")
    assert (code, seen["outcome"], seen["cause"]) == (3, "error", "request")


def test_an_unknown_field_of_a_raw_probe_is_a_warning(probelet: Probelet) -> None:
    ended = probelet("probe", "--spec", '{"tcpSocket": {"port": 1}, "timeoutSecond": 1}')
    assert ended.code == 1
    assert ended.err == (
        "probelet probe: --spec: warning: timeoutSecond: unknown field, ignored; did you mean timeoutSeconds?\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--spec", '{"exec": 1}'], "--spec: exec: Invalid value: 1: must be a mapping, not a number"),
        (["--spec", "{"], "--spec: not YAML: did not find expected node content"),
        (["--spec", ""], "--spec: want one v1.Probe, as JSON"),
        (["--spec", "{}", "--type", "liveness"], "--pod, --container, --type and --stand-in need --from"),
        (["--spec", "{}", "--from", "x.yaml"], "give one of http, "),
        ([], "give one of http, tcp, grpc, exec, --from and --spec"),
        (["http"], "--port"),
        (["http", "--port", "0"], "--port: Invalid value: 0: must be between 1 and 65535, inclusive"),
        (["http", "--port", "a--b"], '--port: Invalid value: "a--b": must not contain consecutive hyphens'),
        (["http", "--port", "1", "--scheme", "https"], '--scheme: Unsupported value: "https": supported values: '),
        (["http", "--port", "1", "--header", "x"], '--header: Invalid value: "x": must be NAME:VALUE'),
        (["http", "--port", "1", "--header", "a b:c"], '--header: Invalid value: "a b": a valid HTTP header'),
        (["http", "--port", "1", "--timeout", "-1"], "--timeout: Invalid value: -1: must be greater than or equal"),
        (["http", "--port", "1", "--timeout", "1.5s"], '"1.5s" is not a whole number of seconds'),
        (["http", "--port", "1", "--tries", "0"], '"0" is not a number of tries above zero'),
        (["tcp", "--port", "1", "--pod-ip", "db"], '--pod-ip: Invalid value: "db": must be an IP address'),
        (["tcp", "--port", "1", "--container-port", "a"], '--container-port: Invalid value: "a": must be NAME=NUMBER'),
        (["tcp", "--port", "1", "--container-port", "a=70000"], '--container-port: Invalid value: "a=70000": must be'),
        (["grpc", "--port", "web"], '"web" is not a number; a grpc probe takes no port names'),
        (["exec"], "COMMAND is missing"),
        (["exec", "--runtime", "docker", "--container-id", "a", "true"], "--runtime: runtime endpoint 'docker': must"),
    ],
)
def test_bad_usage_is_one_line_without_a_probe(
    probelet: Probelet, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.setattr(probe_attempt, "over_socket", None)
    ended = probelet("probe", *arguments)
    assert (ended.code, ended.out) == (2, "")
    complaints = [line for line in ended.err.splitlines() if not line.startswith("  try: ")]
    assert len(complaints) == 1
    assert message in complaints[0]


@pytest.mark.parametrize("handler", ["http", "tcp", "grpc", "exec"])
def test_each_handlers_help_has_its_flags_and_fits_80_columns(probelet: Probelet, handler: str) -> None:
    ended = probelet("probe", handler, "--help")
    assert (ended.code, ended.err) == (0, "")
    assert "--timeout" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


HEALTH = {"kind": "go-grpc-health", "services": {"shop.Cart": "SERVING", "": "NOT_SERVING"}}


@pytest.fixture
def health() -> Iterator[str]:
    """The port of a gRPC server: its service shop.Cart is SERVING, the server as a whole is not."""
    with CaseServer((Listener("PORT", "127.0.0.1", "builtin", None, None, (), HEALTH),)) as server:
        yield str(server.ports["PORT"])


def test_a_grpc_service_that_serves(probelet: Probelet, health: str) -> None:
    ended = probelet("probe", "grpc", "--port", health, "--service", "shop.Cart")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0] == f'grpc.health.v1.Health/Check of service "shop.Cart" at 127.0.0.1:{health} (timeout 1 s)'
    assert lines[-1] == "  service healthy"


def test_a_grpc_server_that_does_not_serve(probelet: Probelet, health: str) -> None:
    code, seen = asked(probelet, "grpc", "--port", health)
    assert (code, seen["outcome"], seen["cause"]) == (1, "failure", "grpc_status")
    assert seen["output"] == 'service unhealthy (responded with "NOT_SERVING")'


def test_https_to_a_server_without_tls(probelet: Probelet) -> None:
    with Server(lambda request: (200, {}, "")) as server:
        code, seen = asked(probelet, "http", "--port", str(server.port), "--scheme", "HTTPS")
    assert (code, seen["outcome"]) == (1, "failure")
    assert "server gave HTTP response to HTTPS client" in seen["output"]
