"""No two findings about one probe contradict each other, and none says again what another one says: over the manifests
of others, and over generated commands."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import product
from pathlib import Path

import msgspec
import pytest
from probelet.lint.engine import Report, lint
from probelet.lint.finding import Finding, Severity, at_least

from tests.unit.lint.test_corpus import CORPUS

ASKS_ANOTHER = ("PL101", "PL102", "PL104", "PL201")
SEES_NOTHING = ("PL207", "PL518")
CONTRADICTORY = frozenset(
    [
        # "Of the container itself", and another host.
        *(("PL520", rule) for rule in ASKS_ANOTHER),
        # It cannot fail, and what follows when it fails.
        *(("PL518", rule) for rule in (*ASKS_ANOTHER, "PL202", "PL205", "PL302", "PL307", "PL519", "PL520")),
        # It finds nothing that hangs, and a server that hangs or starts slowly fails it.
        *(("PL207", rule) for rule in ("PL205", "PL302", "PL307", "PL520")),
        # No attempt starts, and what its answers do.
        *(("PL519", rule) for rule in ("PL520",)),
        ("PL411", "PL413"),
        ("PL405", "PL406"),
    ]
)
ONE_CAUSE = frozenset(
    [
        *(("PL401", "PL418"), ("PL101", "PL104"), ("PL302", "PL307"), ("PL303", "PL302"), ("PL207", "PL518")),
        *(("PL501", "PL520"), ("PL501", "PL518"), ("PL202", "PL203"), ("PL209", "PL202"), ("PL521", "PL503")),
        *(("PL407", "PL201"), ("PL407", "PL101"), ("PL404", "PL105"), ("PL309", "PL301"), ("PL309", "PL305")),
    ]
)


def by_probe(findings: Iterable[Finding]) -> dict[tuple[str, int, str], dict[str, Severity]]:
    """File, document and probe -> the rules that found something there, and how bad it is."""
    found: defaultdict[tuple[str, int, str], dict[str, Severity]] = defaultdict(dict)
    for each in findings:
        head, probe, _ = each.path.partition("Probe")
        if probe:
            found[each.file, each.document, f"{each.prefix}.{head}"][each.rule] = each.severity
    return found


def check(report: Report) -> int:
    """The number of probes with several findings."""
    assert report.broken_rules == []
    probes = by_probe(report.findings)
    for place, rules in probes.items():
        for one, other in product(rules, rules):
            assert (one, other) not in CONTRADICTORY, (place, one, other)
            is_worse = not at_least(rules[other], rules[one])
            assert is_worse or (one, other) not in ONE_CAUSE, (place, one, other)
    return sum(len(rules) > 1 for rules in probes.values())


@pytest.mark.skipif(CORPUS is None, reason="no folder shared/corpus with other people's manifests")
def test_no_findings_of_others_manifests_contradict_each_other() -> None:
    assert CORPUS is not None
    assert check(lint([CORPUS / "manifests"])) > 20


HOSTS = (
    *("localhost", "127.0.0.1", "[::1]", "0.0.0.0", "", "$POD_IP", "$HOSTNAME", "$(POD_IP)", "$(hostname -i)"),
    *("orders", "orders.shop.svc", "10.0.0.7", "web", "web-0.web", "$DB_HOST", "$REDIS_ADDR", "unix:///run/x.sock"),
)
COMMANDS = (
    *("grpc_health_probe -addr={}:8080", "curl -sf http://{}:8080/healthz", "wget -qO- http://{}:8080/ready"),
    *("nc -z {} 8080", "redis-cli -h {} ping", "mysqladmin ping -h {}", "pg_isready -h {}", "mongosh --host {}"),
    *("kafka-topics.sh --bootstrap-server {}:9092 --list", "etcdctl --endpoints={}:2379 endpoint health"),
    *("vault status -address=http://{}:8200", "rabbitmqctl -n rabbit@{} status", "curl {}:8080", "pgrep -f {}"),
    *("ls /{}", "test -f /tmp/{}", "echo {}", "cat /proc/1/status {}"),
)
WRAPPERS = (
    *("{}", "{} || exit 1", "{} && exit 0", "{} || true", "{} | grep -q OK", "if ! {}; then exit 1; fi"),
    *("set -e; {}; echo ok", "timeout 2 {}", "{} & wait", "test -f /tmp/up && {}"),
)


def workload(number: int, command: list[str]) -> dict[str, object]:
    probe = {"exec": {"command": command}, "failureThreshold": 1 + number % 3, "periodSeconds": 2 + number % 11}
    late = {**probe, "initialDelaySeconds": 90, "timeoutSeconds": 1 + number % 7}
    env = [
        {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "DB_HOST", "value": "orders-db"},
    ]
    mounts = [{"name": "data", "mountPath": "/data"}]
    ports = [{"name": "http", "containerPort": 8080}]
    container = {"name": "web", "image": "postgres:17", "env": env, "ports": ports, "volumeMounts": mounts}
    labels = {"app": f"web-{number}"}
    spec = {"containers": [{**container, "livenessProbe": late, "readinessProbe": probe}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": f"web-{number}"},
        "spec": {
            "replicas": 1 + number % 3,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def service(number: int) -> dict[str, object]:
    spec = {"selector": {"app": f"web-{number}"}, "ports": [{"port": 80, "targetPort": 8080}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": f"web-{number}"}, "spec": spec}


def test_no_findings_of_generated_commands_contradict_each_other(tmp_path: Path) -> None:
    items: list[dict[str, object]] = []
    # A prime step through all of them takes each host with each client in some shell.
    for number, (host, command, wrapper) in enumerate([*product(HOSTS, COMMANDS, WRAPPERS)][::3]):
        line = wrapper.format(command.format(host))
        argv = line.split() if number % 4 == 3 else ["sh", "-c", line]
        items += [workload(number, argv), *([service(number)] if number % 2 else [])]
    path = tmp_path / "all.json"
    path.write_bytes(msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": items}))
    assert check(lint([path])) > 200
