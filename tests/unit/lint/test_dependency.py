"""What a probe asks beside its container, from commands and paths as people write them."""

from pathlib import Path

import msgspec
import pytest
from probelet.lint.command.statements import statements

from tests.unit.lint.linted import of_rule, only, report

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  hostNetwork: HOST_NETWORK
  containers:
    - name: web
      image: IMAGE
      env:
        - {name: DB_HOST, value: orders-db}
        - {name: DB_URL, value: "postgres://user:word@orders-db:5432/orders"}
        - {name: SELF, value: localhost}
        - {name: REDIS_ADDR, valueFrom: {configMapKeyRef: {name: web, key: redis}}}
        - {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
      livenessProbe: PROBE
"""


def asked(folder: Path, probe: object, *, image: str = "web:1", host_network: bool = False) -> list[tuple[str, str]]:
    """Severity and message of PL201 about a liveness probe."""
    text = POD.replace("PROBE", msgspec.json.encode(probe).decode()).replace("IMAGE", image)
    found = report(folder, text.replace("HOST_NETWORK", str(host_network).lower()).lstrip(), only("PL201")).findings
    return [(finding.severity, finding.message) for finding in of_rule(found, "PL201")]


@pytest.mark.parametrize(
    "command",
    [
        ["pg_isready", "-h", "orders-db"],
        ["pg_isready", "-horders-db"],
        ["psql", "--host=orders-db", "-c", "select 1"],
        ["psql", "postgresql://u@orders-db/orders", "-c", "select 1"],
        ["psql", "host=orders-db user=u"],
        ["sh", "-c", "pg_isready -h $DB_HOST"],
        ["sh", "-c", 'exec pg_isready -h "${DB_HOST}"'],
        ["pg_isready", "-h", "$(DB_HOST)"],
        ["psql", "-h", "$(DB_URL)"],
        ["sh", "-c", "test -f /tmp/up && curl -sf http://orders-db:8080/healthz || exit 1"],
        ["bash", "-ec", "if ! nc -z orders-db 5432; then exit 1; fi"],
        ["sh", "-c", 'test "$(redis-cli -h orders-db ping)" = PONG'],
        ["sh", "-c", "timeout 5 redis-cli -h orders-db ping | grep -q PONG"],
        ["timeout", "-s", "KILL", "5", "mongosh", "--host", "orders-db"],
        ["wget", "-qO-", "orders-db:8080/healthz"],
        ["grpc_health_probe", "-addr=orders-db:50051"],
        ["sh", "-c", "A=b curl https://u:p@orders-db/x\n"],
        ["etcdctl", "--endpoints", "http://localhost:2379,http://orders-db:2379", "endpoint", "health"],
    ],
    ids=" ".join,
)
def test_a_client_that_names_another_host_is_an_error(tmp_path: Path, command: list[str]) -> None:
    ((severity, message),) = asked(tmp_path, {"exec": {"command": command}})
    assert severity == "error"
    assert "the host orders-db" in message


@pytest.mark.parametrize(
    "command",
    [
        ["psql", "-U", "postgres", "-c", "SELECT 1"],
        ["redis-cli", "ping"],
        ["sh", "-c", "curl -sf http://localhost:8080/healthz"],
        ["sh", "-c", "curl -sf http://127.0.0.1:8080/healthz -o /dev/null"],
        ["curl", "http://[::1]:8080/"],
        ["sh", "-c", "curl http://$(hostname -i):8080/"],
        ["sh", "-c", "curl http://$POD_IP:8080/"],
        ["sh", "-c", "curl http://$(POD_IP):8080/"],
        ["sh", "-c", "curl http://$HOSTNAME:8080/"],
        ["curl", "-H", "Host: orders-db", "http://localhost/"],
        ["redis-cli", "-h", "$(SELF)", "ping"],
        ["sh", "-c", "nc -z localhost 5432"],
        ["nc", "-z", "-w", "2", "localhost", "5432"],
        ["cat", "/tmp/healthy"],
        ["sh", "-c", "cat <<'EOF'\ncurl 'http://orders-db\nEOF"],
        ["curl", "http://web:8080/"],
        ["sh", "-c"],
        ["sh", "-c", "((((("],
        ["curl", "http://[::1/"],
    ],
    ids=" ".join,
)
def test_a_client_of_the_container_itself_is_no_finding(tmp_path: Path, command: list[str]) -> None:
    assert asked(tmp_path, {"exec": {"command": command}}) == []


def test_a_variable_whose_name_is_a_dependency_is_a_guess(tmp_path: Path) -> None:
    ((severity, message),) = asked(tmp_path, {"exec": {"command": ["sh", "-c", "redis-cli -h $REDIS_ADDR ping"]}})
    assert severity == "warning"
    assert "$REDIS_ADDR" in message


def test_kubectl_asks_the_api_server(tmp_path: Path) -> None:
    ((severity, message),) = asked(tmp_path, {"exec": {"command": ["sh", "-c", "kubectl get lease web"]}})
    assert severity == "error"
    assert "the API server" in message


@pytest.mark.parametrize(
    ("path", "image", "is_found"),
    [
        ("/healthz?full=false", "web:1", False),
        ("/healthz?deep=1", "web:1", True),
        ("/health/deep", "web:1", True),
        ("/deep/blue", "web:1", False),
        ("/all", "web:1", False),
        ("/health/db", "web:1", True),
        ("/api/database/ping", "web:1", True),
        ("/kafka/health", "registry.example/strimzi/kafka:4", False),
        ("/actuator/health", "web:1", True),
        ("/actuator/health/", "web:1", True),
        ("/actuator/health/liveness", "web:1", False),
        ("/health/ready", "web:1", False),
        ("/fully", "web:1", False),
        ("//[", "web:1", False),
    ],
)
def test_a_path_that_names_a_dependency_is_a_guess(tmp_path: Path, path: str, image: str, is_found: bool) -> None:
    found = asked(tmp_path, {"httpGet": {"path": path, "port": 8080}}, image=image)
    assert [severity for severity, _ in found] == (["warning"] if is_found else [])


@pytest.mark.parametrize("path", ["/healthz?full=true", "/health/full", "/status/all"])
def test_a_thorough_check_may_be_of_the_container_alone(tmp_path: Path, path: str) -> None:
    assert [severity for severity, _ in asked(tmp_path, {"httpGet": {"path": path, "port": 8080}})] == ["info"]


@pytest.mark.parametrize(
    ("host", "host_network", "is_found"),
    [
        ("localhost", True, False),
        ("127.0.0.1", False, False),
        ("192.168.49.2", True, False),
        ("192.168.49.2", False, True),
        ("orders-db", True, True),
    ],
)
def test_a_host_in_the_handler_is_another_host(tmp_path: Path, host: str, host_network: bool, is_found: bool) -> None:
    for handler in ("httpGet", "tcpSocket"):
        found = asked(tmp_path, {handler: {"host": host, "port": 8080}}, host_network=host_network)
        assert [severity for severity, _ in found] == (["error"] if is_found else [])


def test_statements_of_a_shell_are_found_wherever_they_stand() -> None:
    script = 'set -e; if [ "$(a -x)" = 1 ]; then b | c && ! d; else e || (f); fi\ng `h`'
    found = {words[0] for words in statements(["sh", "-c", script])}
    assert set("abcdefgh") <= found


def test_shells_inside_shells_end() -> None:
    nested = ["sh", "-c", "x"]
    for _ in range(9):
        nested = ["sh", "-c", " ".join(nested)]
    assert len(list(statements(nested))) <= 2
