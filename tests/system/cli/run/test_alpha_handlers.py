"""KEP-5999 and KEP-4939 through the real command line: which pods restart, with the gates on and off."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.handlers.alpha import alpha_servers
from tests.system.cli.conftest import Run, Start, wait_for

pytestmark = pytest.mark.e2e

FOREVER = ["sh", "-c", "exec sleep 86400"]


def run(start: Start, folder: Path, gates: str, **probes: dict[str, Any]) -> Run:
    """A pod for each liveness probe, with a period of one second and a failure threshold of one.

    The servers are the test's own. So the pods are on the host's network, where every listener may answer.
    """
    folder.mkdir()
    for name, handler in probes.items():
        probe = {**handler, "periodSeconds": 1, "failureThreshold": 1, "timeoutSeconds": 5}
        container = {"name": "app", "command": FOREVER, "livenessProbe": probe, "readinessProbe": probe}
        spec = {"hostNetwork": True, "terminationGracePeriodSeconds": 1, "containers": [container]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
        (folder / f"{name}.yaml").write_text(json.dumps(pod))
    started = start(str(folder), "--kubelet-version", "1.37", "--feature-gates", gates)
    started.line("listening")
    return started


def http(port: int, protocol: str) -> dict[str, Any]:
    return {"httpGet": {"port": port, "protocol": protocol}}


def check(port: int, mode: str, service: str = "") -> dict[str, Any]:
    return {"grpc": {"port": port, "mode": mode, "service": service}}


def settled(started: Run, well: set[str], ill: set[str]) -> None:
    """Healthy pods become ready without a restart, and every other pod restarts."""

    def look() -> bool:
        rows = {name: pod["containers"][0] for name, pod in started.status().items()}
        assert not any(rows[name]["restart_count"] for name in well & rows.keys()), rows
        if rows.keys() != well | ill:
            return False
        return all(rows[name]["ready"] for name in well) and all(rows[name]["restart_count"] for name in ill)

    wait_for(look, f"only {sorted(well)} to be well")


def test_http2_probes(start: Start, tmp_path: Path) -> None:
    with alpha_servers.h2c() as (h2c, _), alpha_servers.http1() as http1, alpha_servers.nobody() as nobody:
        started = run(
            start,
            tmp_path / "pods",
            "H2CContainerProbe=true",
            h2c=http(h2c, "HTTP2"),
            http1=http(http1, "HTTP1"),
            wrong=http(http1, "HTTP2"),
            nobody=http(nobody, "HTTP2"),
        )
        settled(started, {"h2c", "http1"}, {"wrong", "nobody"})


def test_grpc_probes_over_tls(start: Start, tmp_path: Path) -> None:
    with alpha_servers.tls_health() as tls, alpha_servers.nobody() as nobody:
        started = run(
            start,
            tmp_path / "pods",
            "GRPCContainerProbeTLS=true",
            tls=check(tls, "TLS"),
            plain=check(tls, "Plaintext"),
            down=check(tls, "TLS", "down"),
            nobody=check(nobody, "TLS"),
        )
        settled(started, {"tls"}, {"plain", "down", "nobody"})


def test_with_the_gates_off_the_fields_are_dropped(start: Start, tmp_path: Path) -> None:
    """The same servers give the opposite results."""
    with alpha_servers.h2c() as (h2c, _), alpha_servers.http1() as http1, alpha_servers.tls_health() as tls:
        started = run(
            start,
            tmp_path / "pods",
            "H2CContainerProbe=false,GRPCContainerProbeTLS=false",
            http1=http(http1, "HTTP2"),
            h2c=http(h2c, "HTTP2"),
            tls=check(tls, "TLS"),
        )
        settled(started, {"http1"}, {"h2c", "tls"})
