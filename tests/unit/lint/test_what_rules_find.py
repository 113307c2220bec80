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
        "echo ok >/dev/null 2>&1",
        "echo ok > /proc/1/fd/1",
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
        "echo > /dev/tcp/localhost/8080",
        ": </dev/tcp/127.0.0.1/8080",
        "echo ok >> /data/probe",
        "cat < /run/app.pid",
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
        ("healthz", None),
        ("localhost:8080/healthz", "error"),
        ("127.0.0.1:8080/healthz", None),
        ("a:/healthz", None),
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


HTTP = {"httpGet": {"path": "/livez", "port": 8080}}


def of_pod(folder: Path, rule: str, **container: Any) -> list[tuple[str, str]]:
    """Severity and message of a rule's findings in a pod with these probes."""
    own = {"name": "web", "image": "registry.example/web:1", **container}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [own]}}
    return [(each.severity, each.message) for each in report(folder, json.dumps(pod), only(rule), "web.json").findings]


@pytest.mark.parametrize(
    ("text", "mounts", "count"),
    [
        ("ls /var/www", [], 1),
        ("ls -l /app /etc", [], 1),
        ("pgrep -x app", [], 1),
        # A list of a volume may be a check of the volume, and a file that a program makes is a sign.
        ("ls /data/lost+found", ["/data"], 0),
        ("ls /tmp/healthy", [], 0),
        ("ls /run/", [], 1),
        ("cat /tmp/healthy", [], 0),
        ("ls /app && curl -f http://localhost/", [], 0),
    ],
)
def test_a_list_of_a_directory_proves_nothing(text: str, mounts: list[str], count: int, tmp_path: Path) -> None:
    volumes = [{"name": "data", "mountPath": path} for path in mounts]
    assert len(of_pod(tmp_path, "PL207", livenessProbe=shell(text), volumeMounts=volumes)) == count


@pytest.mark.parametrize(
    ("text", "rule", "count"),
    [
        ("pgrep -x app", "PL302", 0),
        ("ls /app", "PL302", 0),
        ("test -f /app/server.jar", "PL302", 0),
        # The program makes this file when it is up.
        ("test -f /tmp/ready", "PL302", 1),
        ("curl -f http://localhost/", "PL302", 1),
        ("pgrep -x app", "PL205", 0),
        ("curl -f http://localhost/", "PL205", 1),
    ],
)
def test_a_command_that_asks_no_server_fails_of_no_slow_one(text: str, rule: str, count: int, tmp_path: Path) -> None:
    probe = {**shell(text), "initialDelaySeconds": 90, "periodSeconds": 5, "failureThreshold": 1}
    assert len(of_pod(tmp_path, rule, livenessProbe=probe)) == count


@pytest.mark.parametrize("image", ["postgres:17", "postgres@sha256:1"])
def test_the_recovery_of_a_database_fails_no_look_at_its_process(image: str, tmp_path: Path) -> None:
    mounts = [{"name": "data", "mountPath": "/var/lib/postgresql/data"}]
    for text, count in (("pg_isready", 1), ("pgrep -x postgres", 0), ("ls /var/lib/postgresql", 0)):
        assert len(of_pod(tmp_path, "PL307", image=image, livenessProbe=shell(text), volumeMounts=mounts)) == count


@pytest.mark.parametrize(
    ("rule", "kind", "fields", "severity"),
    [
        ("PL309", "startupProbe", {"failureThreshold": 1}, "warning"),
        ("PL309", "startupProbe", {"failureThreshold": 2}, None),
        ("PL105", "readinessProbe", {"initialDelaySeconds": 180}, "info"),
        ("PL105", "readinessProbe", {"initialDelaySeconds": 119}, None),
        ("PL404", "livenessProbe", {"periodSeconds": 3600}, "warning"),
        ("PL404", "livenessProbe", {"periodSeconds": 120}, None),
        ("PL509", "livenessProbe", {"terminationGracePeriodSeconds": 3600}, "warning"),
        ("PL509", "livenessProbe", {"terminationGracePeriodSeconds": 60}, None),
        ("PL205", "livenessProbe", {"periodSeconds": 5}, None),
        ("PL205", "livenessProbe", {"periodSeconds": 3}, "warning"),
    ],
)
def test_numbers_that_nobody_can_mean(
    rule: str, kind: str, fields: dict[str, int], severity: str | None, tmp_path: Path
) -> None:
    findings = of_pod(tmp_path, rule, **{kind: {**HTTP, **fields}})
    assert [each for each, _ in findings] == ([] if severity is None else [severity])


def test_a_busy_server_passes_a_tcp_probe(tmp_path: Path) -> None:
    probe = {"tcpSocket": {"port": 8080}, "periodSeconds": 1}
    assert of_pod(tmp_path, "PL205", livenessProbe=probe) == []
    assert len(of_pod(tmp_path, "PL205", livenessProbe={**probe, "failureThreshold": 1})) == 1


@pytest.mark.parametrize(
    ("port", "path", "container", "severity"),
    [
        (8080, "/ready", {}, "warning"),
        (8000, "/ready", {}, None),
        # The number stands in an option or a variable of the container.
        (8081, "/ready", {"args": ["--health-probe-bind-address=:8081"]}, None),
        (8081, "/ready", {"env": [{"name": "PORT", "value": "8081"}]}, None),
        # Both probes agree on a port: it is one for health, unless it is a usual one with a path for clients.
        (8081, "/ready", {"livenessProbe": {"httpGet": {"path": "/live", "port": 8081}}}, None),
        (8080, "/ready", {"livenessProbe": {"httpGet": {"path": "/live", "port": 8080}}}, None),
        (8080, "/index", {"livenessProbe": {"httpGet": {"path": "/live", "port": 8080}}}, "info"),
        (8080, "/ready", {"ports": []}, None),
    ],
)
def test_a_port_that_nothing_else_in_the_pod_has(
    port: int, path: str, container: dict[str, Any], severity: str | None, tmp_path: Path
) -> None:
    usual = {
        "ports": [{"containerPort": 8000}],
        "livenessProbe": {"httpGet": {"path": "/live", "port": 8000}},
        "readinessProbe": {"httpGet": {"path": path, "port": port}},
    }
    findings = of_pod(tmp_path, "PL420", **{**usual, **container})
    assert [each for each, _ in findings] == ([] if severity is None else [severity])


def test_a_policy_without_the_ports_of_its_pods_is_one_finding(tmp_path: Path) -> None:
    policy = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "deny"},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress"]},
    }
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"web-{number}"},
            "spec": {"containers": [{"name": "web", "image": "web:1", "livenessProbe": HTTP, "readinessProbe": HTTP}]},
        }
        for number in range(3)
    ]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [policy, *pods]})
    (finding,) = report(tmp_path, text, only("PL417"), "web.json").findings
    assert finding.object == "Pod/default/web-0"


def test_a_host_of_the_node_is_no_other_host_in_a_pod_that_shares_its_network(tmp_path: Path) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "kube-apiserver"},
        "spec": {
            "hostNetwork": True,
            "containers": [
                {
                    "name": "kube-apiserver",
                    "image": "kube-apiserver:1",
                    "livenessProbe": {"httpGet": {"host": "192.168.1.80", "path": "/livez", "port": 6443}},
                }
            ],
        },
    }
    assert report(tmp_path, json.dumps(pod), only("PL407", "PL201"), "web.json").findings == []


@pytest.mark.parametrize(
    ("host", "spec", "found"),
    [
        ("auth.example", {}, [("PL421", "warning")]),
        ("10.1.2.3", {}, [("PL421", "warning")]),
        ("auth.example", {"hostNetwork": True}, [("PL407", "warning"), ("PL421", "info")]),
        ("localhost", {"hostNetwork": True}, [("PL421", "info")]),
        ("localhost", {}, []),
        ("127.0.0.1", {}, []),
        ("$(HOST)", {}, []),
        (None, {}, []),
    ],
)
def test_a_probe_from_inside_its_pod(
    host: str | None, spec: dict[str, Any], found: list[tuple[str, str]], tmp_path: Path
) -> None:
    options = json.dumps({"web": {"livenessProbe": {"network": "pod"}}})
    get = {"path": "/live", "port": 8080, **({} if host is None else {"host": host})}
    container = {"name": "web", "image": "registry.example/web:1", "livenessProbe": {"httpGet": get}}
    metadata = {"name": "web", "annotations": {"probelet.dev/probe-options": options}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container], **spec}}
    result = report(tmp_path, json.dumps(pod), only("PL407", "PL421"), "web.json")
    assert sorted((each.rule, each.severity) for each in result.findings) == found
