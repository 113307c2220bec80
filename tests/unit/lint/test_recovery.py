"""Which probes a database answers before its recovery has ended: PL307 says nothing about them."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.lint.linted import of_rule, only, report

TCP = {"tcpSocket": {"port": 1}}


def command(text: str) -> dict[str, Any]:
    return {"exec": {"command": ["sh", "-c", text]}}


@pytest.mark.parametrize(
    ("image", "probe", "count"),
    [
        # The kernel accepts connections as soon as the server listens, which these do before they read their log.
        ("postgres:17", TCP, 0),
        ("postgres:17", command("nc -z localhost 5432"), 0),
        ("postgres:17", command("pg_isready"), 1),
        ("redis:8", TCP, 0),
        ("etcd:v3.6.0", TCP, 0),
        ("etcd:v3.6.0", {"httpGet": {"path": "/livez", "port": 2379}}, 1),
        ("zookeeper:3.9", TCP, 0),
        ("mysql:8", TCP, 1),
        ("mysql:8", command("nc -z localhost 3306"), 1),
        # Without -e, redis-cli has no failure for the answer LOADING.
        ("redis:8", command("redis-cli ping"), 0),
        ("redis:8", command("redis-cli -e ping"), 1),
        ("redis:8", command("redis-cli ping | grep PONG"), 1),
        # The node of Erlang answers before the broker in it runs.
        ("rabbitmq:4", command("rabbitmq-diagnostics -q ping"), 0),
        ("rabbitmq:4", command("rabbitmqctl status"), 0),
        ("rabbitmq:4", command("rabbitmq-diagnostics check_running"), 1),
        ("rabbitmq:4", command("rabbitmq-diagnostics ping && rabbitmq-diagnostics check_running"), 1),
    ],
)
def test_a_probe_that_succeeds_during_the_recovery_kills_nothing(
    image: str, probe: dict[str, Any], count: int, tmp_path: Path
) -> None:
    container = {
        "name": "db",
        "image": image,
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        "livenessProbe": probe,
    }
    spec = {
        "containers": [container],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
    }
    pod = yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "db"}, "spec": spec})
    assert len(of_rule(report(tmp_path, pod, only("PL307")).findings, "PL307")) == count
