"""Rules that guess from names: of images, variables, ports, paths and programs."""

from pathlib import Path

import pytest

from tests.unit.lint.linted import of_rule, only, report

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  volumes:
    - {name: claim, persistentVolumeClaim: {claimName: c}}
    - {name: scratch, emptyDir: {}}
    - {name: settings, configMap: {name: s}}
  containers:
    - name: web
      image: IMAGE
      FIELDS
      livenessProbe: {PROBE}
"""
HTTP = "httpGet: {path: /livez, port: 8080}"
LABELLED = "{name: web, labels: {app: web}}"
SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: http}]}
"""


def found(folder: Path, rule: str, *, image: str = "web:1", fields: str = "stdin: false", probe: str = HTTP) -> int:
    text = POD.replace("IMAGE", image).replace("FIELDS", fields).replace("{PROBE}", f"{{{probe}}}")
    return len(of_rule(report(folder, text.lstrip(), only(rule)).findings, rule))


def mounts(volume: str) -> str:
    return f"volumeMounts: [{{name: {volume}, mountPath: /data}}]"


@pytest.mark.parametrize(
    ("image", "fields", "wanted"),
    [
        ("postgres:17", mounts("claim"), 1),
        ("postgres:17-alpine", mounts("scratch"), 1),
        ("registry.example:5000/library/postgres@sha256:0123", mounts("claim"), 1),
        ("quay.io/fedora/postgresql-16", mounts("claim"), 1),
        ("cassandra", mounts("claim"), 1),
        ("postgres:17", mounts("settings"), 0),
        ("postgres:17", "stdin: false", 0),
        ("postgres-exporter:1", mounts("claim"), 0),
        ("redis:8", mounts("claim"), 1),
        ("redis:8-alpine", mounts("scratch"), 0),
        ("redis:8", f"command: [sh, /fix-split-brain.sh]\n      {mounts('claim')}", 0),
        ("redis:8", f"command: [redis-server, /redis.conf]\n      {mounts('claim')}", 1),
        ("mysql:8", f"command: [mysqld]\n      {mounts('claim')}", 1),
    ],
)
def test_pl307_looks_for_a_database_with_data(tmp_path: Path, image: str, fields: str, wanted: int) -> None:
    assert found(tmp_path, "PL307", image=image, fields=fields) == wanted


@pytest.mark.parametrize(
    ("image", "fields", "wanted"),
    [
        ("eclipse-temurin:21", "stdin: false", 1),
        ("registry.example/team/orders-java:1", "stdin: false", 1),
        ("web:1", "env: [{name: JAVA_TOOL_OPTIONS, value: -Xmx1g}]", 1),
        ("vllm/vllm-openai:latest", "stdin: false", 1),
        ("javascript-app:1", "stdin: false", 0),
        ("java.example/web:1", "stdin: false", 0),
        ("web:java", "stdin: false", 0),
        ("ghcr.io/kubeflow/spark-operator/controller:2.5.0", "stdin: false", 0),
        ("registry.example/team/jenkins-exporter:1", "stdin: false", 0),
    ],
)
def test_pl303_looks_for_programs_with_a_slow_start(tmp_path: Path, image: str, fields: str, wanted: int) -> None:
    assert found(tmp_path, "PL303", image=image, fields=fields) == wanted
    patient = f"{HTTP}, initialDelaySeconds: 60"
    assert found(tmp_path, "PL303", image=image, fields=fields, probe=patient) == 0


@pytest.mark.parametrize(
    ("probe", "wanted"),
    [
        ("tcpSocket: {port: http}", 1),
        ("tcpSocket: {port: 8080}", 1),
        ("tcpSocket: {port: redis}", 0),
        ("exec: {command: [pgrep, web]}", 1),
        ("exec: {command: [sh, -c, 'ps aux | grep -v grep | grep web']}", 1),
        ("exec: {command: [sh, -c, 'pgrep web && curl -f localhost:8080']}", 0),
        ("exec: {command: [cat, /tmp/healthy]}", 0),
    ],
)
def test_pl207_looks_for_probes_that_see_only_a_process_or_a_socket(tmp_path: Path, probe: str, wanted: int) -> None:
    ports = "ports: [{name: http, containerPort: 8080}, {name: redis, containerPort: 6379}]"
    assert found(tmp_path, "PL207", fields=ports, probe=probe) == wanted


@pytest.mark.parametrize(
    ("probe", "wanted"),
    [
        ("httpGet: {path: /ready, port: 80}", 1),
        ("httpGet: {path: /healthz/readiness, port: 80}", 1),
        ("httpGet: {path: '/health?type=ready', port: 80}", 1),
        ("httpGet: {path: /isReady, port: 80}", 1),
        ("exec: {command: [sh, -c, /health/redis_readiness.sh]}", 1),
        ("grpc: {port: 80, service: readiness}", 1),
        ("httpGet: {path: /livez, port: 80}", 0),
        ("httpGet: {path: /already, port: 80}", 0),
        ("exec: {command: [sh, -c, 'echo not ready']}", 0),
    ],
)
def test_pl209_looks_for_the_words_of_readiness(tmp_path: Path, probe: str, wanted: int) -> None:
    assert found(tmp_path, "PL209", probe=probe) == wanted


@pytest.mark.parametrize(
    ("name", "probe", "wanted"),
    [
        *(
            (name, "tcpSocket: {port: 9090}", 1)
            for name in ("metrics", "http-metrics", "admin", "delivery", "internal")
        ),
        *((name, "httpGet: {path: /metrics, port: 9090}", 1) for name in ("metrics", "prom")),
        *(
            (name, "tcpSocket: {port: 9090}", 0)
            for name in ("health", "healthz", "http-health", "healthcheck", "probe", "probes", "liveness", "livez")
        ),
        *((name, "httpGet: {path: /, port: 9090}", 0) for name in ("status", "ready", "readiness", "readyz", "ping")),
        ("metrics", "httpGet: {path: /healthz, port: 9090}", 0),
        ("metrics", "httpGet: {path: /, port: 8080}", 0),
    ],
)
def test_pl206_leaves_ports_that_are_named_for_probes(tmp_path: Path, name: str, probe: str, wanted: int) -> None:
    pod = POD.replace("IMAGE", "web:1").replace("{PROBE}", f"{{{probe}}}").replace("{name: web}", LABELLED, 1)
    ports = f"ports: [{{name: http, containerPort: 8080}}, {{name: {name}, containerPort: 9090}}]"
    text = f"{SERVICE}---{pod.replace('FIELDS', ports)}"
    assert len(of_rule(report(tmp_path, text.lstrip(), only("PL206")).findings, "PL206")) == wanted
