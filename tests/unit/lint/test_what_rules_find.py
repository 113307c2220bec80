"""What the rules about commands and targets find beside their examples, and above all what they leave alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.lint.linted import only, report


def found(folder: Path, rule: str, probe: dict[str, Any], **container: Any) -> list[tuple[str, str]]:
    """Severity and message of a rule's findings in a pod with this liveness probe."""
    own = {"name": "web", "image": "registry.example/web:1", "livenessProbe": probe, **container}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [own]}}
    result = report(folder, json.dumps(pod), only(rule), "web.json")
    assert result.broken_rules == []
    return [(each.severity, each.message) for each in result.findings]


def shell(text: str) -> dict[str, Any]:
    return {"exec": {"command": ["sh", "-c", text]}}


@pytest.mark.parametrize(
    "text",
    [
        "pgrep -f app || exit 1",
        "ps aux | grep app",
        "curl -sf localhost || true",
        "test -f /tmp/a; exit 0",
        "echo ok",
        "exit 0",
        "kill -0 1",
        "[ -d /proc/1 ]",
        "ls /",
    ],
)
def test_a_command_that_always_succeeds_is_found(text: str, tmp_path: Path) -> None:
    assert found(tmp_path, "PL518", shell(text))


@pytest.mark.parametrize(
    "text",
    [
        "pgrep -f app",
        "pgrep -fx app || exit 1",
        "pgrep -f [a]pp || exit 1",
        "ps aux | grep [a]pp",
        "ps aux | grep -v grep | grep app",
        "set -e; test -f /tmp/a; echo ok",
        "if a; then exit 1; fi; echo ok",
        "test -f /tmp/a && echo ok",
        "test -f /tmp/a || exit 1",
        "kill -0 $(cat /run/app.pid)",
        "ls /data",
        "",
        "(",
        "'",
    ],
)
def test_a_command_that_can_fail_is_left_alone(text: str, tmp_path: Path) -> None:
    assert found(tmp_path, "PL518", shell(text)) == []


@pytest.mark.parametrize(
    ("command", "severity"),
    [
        (["cat /tmp/alive"], "error"),
        (["curl", "-f", "http://localhost", "||", "exit", "1"], "warning"),
        (["pg_isready", "-U", "$POSTGRES_USER"], "warning"),
        (["pgrep", "a-name-of-more-than-15-characters"], "warning"),
        (["pgrep", "/usr/bin/app"], "warning"),
        (["pgrep", "-x", "app"], None),
        (["pgrep", "-f", "/usr/bin/app"], None),
        (["find", "/tmp", "-exec", "true", ";"], None),
        (["test", "a", ">", "b"], None),
        (["C:\\Program Files\\app\\check.exe"], None),
        (["sh", "-c", "a || exit 1"], None),
        (["sh", "-c"], None),
    ],
)
def test_what_only_a_shell_understands(command: list[str], severity: str | None, tmp_path: Path) -> None:
    findings = found(tmp_path, "PL519", {"exec": {"command": command}})
    assert [each for each, _ in findings] == ([] if severity is None else [severity])


@pytest.mark.parametrize("value", [{"value": "web"}, {"valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}])
def test_a_reference_to_a_variable_is_found_where_the_kubelet_has_no_value(value: Any, tmp_path: Path) -> None:
    findings = found(tmp_path, "PL519", {"exec": {"command": ["psql", "-U", "$(WHO)"]}}, env=[{"name": "WHO", **value}])
    assert bool(findings) == ("valueFrom" in value)


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("redis-cli -a hunter22 ping", "warning"),
        ("mysqladmin ping -phunter22", "warning"),
        ("PGPASSWORD=hunter22 psql", "warning"),
        ("psql postgres://u:hunter22@localhost/db", "warning"),
        ("curl -u admin:hunter22 http://localhost", "warning"),
        ("mysqladmin --password hunter22 ping", "warning"),
        # The shell puts the value in, so it is in the arguments and not in the manifest.
        ("redis-cli -a $PASS ping", "info"),
        ("mysqladmin ping -p$MYSQL_ROOT_PASSWORD", "info"),
        ("mysqladmin ping --password=${MYSQL_ROOT_PASSWORD}", "info"),
        ("curl -u $USER:$PASS http://localhost", "info"),
        ("PGPASSWORD=$PASS psql", None),
        ("MYSQL_PWD=$MYSQL_ROOT_PASSWORD mysqladmin ping", None),
        ("mysqladmin ping -P 3306", None),
        ("mysqladmin ping -p", None),
        ("app --password-file=/etc/secret", None),
        ("redis-cli -h $REDIS_HOST ping", None),
    ],
)
def test_a_secret_in_a_command_is_found_and_never_repeated(text: str, severity: str | None, tmp_path: Path) -> None:
    findings = found(tmp_path, "PL419", shell(text))
    assert [each for each, _ in findings] == ([] if severity is None else [severity])
    assert "hunter22" not in str(findings)


def test_a_variable_that_no_shell_expands_is_no_secret(tmp_path: Path) -> None:
    probe = {"exec": {"command": ["mysqladmin", "-p$MYSQL_ROOT_PASSWORD", "ping"]}}
    assert found(tmp_path, "PL419", probe) == []
    ((_, message),) = found(tmp_path, "PL519", probe)
    assert "mysqladmin gets the text $MYSQL_ROOT_PASSWORD" in message


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("collect & test -f /tmp/a", "warning"),
        ("nc -z localhost 80 && curl -f localhost", "info"),
        ("sleep 5 & wait", None),
        ("a > /dev/null 2>&1 && b", None),
        ("curl 'http://localhost/?a=1&b=2'", None),
        ("timeout 2 curl -f localhost || exit 1", None),
        ("redis-cli -a $PASS ping", None),
    ],
)
def test_what_a_timeout_leaves_behind(text: str, severity: str | None, tmp_path: Path) -> None:
    assert [each for each, _ in found(tmp_path, "PL502", shell(text))] == ([] if severity is None else [severity])


@pytest.mark.parametrize(
    ("path", "severity"),
    [
        ("healthz", "info"),
        ("/a#b", "warning"),
        ("http://other:1/a?b=1", "warning"),
        (" /a", "warning"),
        ("/a?next=http://x", None),
        ("?a=1", None),
    ],
)
def test_a_path_that_the_server_gets_otherwise(path: str, severity: str | None, tmp_path: Path) -> None:
    findings = found(tmp_path, "PL412", {"httpGet": {"path": path, "port": 8080}})
    assert [each for each, _ in findings] == ([] if severity is None else [severity])


@pytest.mark.parametrize(
    ("host", "port", "severity"),
    [
        ("127.0.0.1", {"containerPort": 8080}, "error"),
        ("localhost", {"containerPort": 8080, "hostPort": 8080}, "warning"),
        ("169.254.169.254", {"containerPort": 8080}, "error"),
        ("example.com", {"containerPort": 8080}, "warning"),
    ],
)
def test_a_host_is_an_error_where_the_pod_is_never_asked(
    host: str, port: dict[str, Any], severity: str, tmp_path: Path
) -> None:
    findings = found(tmp_path, "PL407", {"httpGet": {"host": host, "port": 8080}}, ports=[port])
    assert [each for each, _ in findings] == [severity]
