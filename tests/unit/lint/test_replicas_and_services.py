"""Rules about replicas behind a Service: which surroundings make them speak, and how loud."""

from pathlib import Path

import pytest

from tests.unit.lint.linted import of_rule, only, report

TEXT = """
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {SERVICE, selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: REPLICAS
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: i
          livenessProbe: {LIVENESS, failureThreshold: KILLS}
          readinessProbe: {READINESS}
"""
SAME = "httpGet: {path: /health, port: 80}"
OWN = "exec: {command: [curl, -f, 'http://web.default.svc/health']}"
SHARED = "exec: {command: [pg_isready, -h, orders-db]}"


def severities(
    folder: Path,
    rule: str,
    readiness: str,
    *,
    liveness: str = SAME,
    service: str = "type: ClusterIP",
    replicas: int = 3,
    kills: int = 3,
) -> list[str]:
    text = TEXT.replace("SERVICE", service).replace("REPLICAS", str(replicas)).replace("KILLS", str(kills))
    text = text.replace("LIVENESS", liveness)
    found = report(folder, text.replace("{READINESS}", f"{{{readiness}}}").lstrip(), only(rule)).findings
    return [finding.severity for finding in of_rule(found, rule)]


@pytest.mark.parametrize(
    ("service", "replicas", "kills", "wanted"),
    [
        ("type: ClusterIP", 3, 3, "error"),
        ("type: ClusterIP", 3, 2, "error"),
        ("type: ClusterIP", 1, 3, "warning"),
        ("clusterIP: None", 3, 3, "warning"),
        ("publishNotReadyAddresses: true", 3, 3, "warning"),
        ("type: ClusterIP", 3, 4, None),
        ("type: ClusterIP", 3, 6, None),
    ],
)
def test_pl202_is_an_error_where_a_kill_moves_load(
    tmp_path: Path, service: str, replicas: int, kills: int, wanted: str | None
) -> None:
    found = severities(tmp_path, "PL202", SAME, service=service, replicas=replicas, kills=kills)
    assert found == ([] if wanted is None else [wanted])


def test_pl202_is_no_error_for_what_a_busy_server_passes(tmp_path: Path) -> None:
    assert severities(tmp_path, "PL202", "tcpSocket: {port: 80}", liveness="tcpSocket: {port: 80}") == ["warning"]


def test_pl202_sees_one_question_in_two_spellings(tmp_path: Path) -> None:
    assert severities(tmp_path, "PL202", "httpGet: {path: /health, port: 80, scheme: HTTP}") == ["error"]
    assert severities(tmp_path, "PL202", "httpGet: {path: /health, port: 80, scheme: HTTPS}") == []
    assert severities(tmp_path, "PL202", "httpGet: {path: /health, port: 81}") == []
    assert severities(tmp_path, "PL202", "tcpSocket: {port: 80}") == []


def test_pl104_speaks_of_several_replicas_behind_a_service_that_follows_readiness(tmp_path: Path) -> None:
    assert severities(tmp_path, "PL104", SHARED) == ["warning"]
    assert severities(tmp_path, "PL104", SHARED, replicas=1) == []
    assert severities(tmp_path, "PL104", SHARED, service="publishNotReadyAddresses: true") == []
    assert severities(tmp_path, "PL104", SAME) == []


def test_pl101_sees_that_readiness_waits_for_its_own_service(tmp_path: Path) -> None:
    text = (
        TEXT.replace("SERVICE", "type: ClusterIP")
        .replace("REPLICAS", "3")
        .replace("KILLS", "3")
        .replace("LIVENESS", SAME)
    )
    found = of_rule(
        report(tmp_path, text.replace("{READINESS}", f"{{{OWN}}}").lstrip(), only("PL101")).findings, "PL101"
    )
    assert ["no endpoint before one of them is ready" in finding.message for finding in found] == [True]


@pytest.mark.parametrize(
    ("readiness", "replicas", "wanted"),
    [
        (f"{SAME}, failureThreshold: 1", 3, ["warning"]),
        (f"{SAME}, periodSeconds: 2", 3, ["info"]),
        (f"{SHARED}, periodSeconds: 2", 3, ["warning"]),
        (f"{SAME}, periodSeconds: 5", 3, []),
        (f"{SAME}, failureThreshold: 1", 1, []),
    ],
)
def test_pl103_is_loud_about_one_attempt_and_about_what_replicas_share(
    tmp_path: Path, readiness: str, replicas: int, wanted: list[str]
) -> None:
    assert severities(tmp_path, "PL103", readiness, replicas=replicas) == wanted
