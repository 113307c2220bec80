"""``run --stand-in``: a Deployment from anywhere runs, is ready, and can be broken."""

import os
import random
from pathlib import Path

import pytest

from tests.system.cli.conftest import Run, Start, probelet, wait_for

pytestmark = pytest.mark.e2e

FOREIGN = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      hostNetwork: true
      initContainers:
      - {name: wait, image: busybox, command: [sh, -c, "until nc -z db 5432; do sleep 1; done"]}
      containers:
      - name: web
        image: registry.example/web:1
        ports: [{name: http, containerPort: 18080}]
        env: [{name: TOKEN, valueFrom: {secretKeyRef: {name: away, key: token}}}]
        livenessProbe: {httpGet: {path: /livez, port: http, host: 127.0.0.1}, failureThreshold: 30}
        readinessProbe: {httpGet: {path: /readyz, port: 18443, scheme: HTTPS}, periodSeconds: 1}
        lifecycle: {preStop: {exec: {command: [/bin/nginx, -s, quit]}}}
      - name: rpc
        image: registry.example/rpc:1
        livenessProbe: {tcpSocket: {port: 19090}, failureThreshold: 30}
        readinessProbe: {grpc: {port: 19090}, periodSeconds: 1}
      - name: cache
        image: redis
        startupProbe: {exec: {command: [sh, -c, "redis-cli ping | grep PONG"]}, periodSeconds: 1, failureThreshold: 60}
        readinessProbe: {exec: {command: [redis-cli, ping]}, periodSeconds: 1}
"""


def ready(run: Run, pod: str = "shop") -> bool:
    return bool(run.status().get(pod, {}).get("ready"))


def test_every_kind_of_probe_of_a_foreign_deployment_passes(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text(FOREIGN)
    run = start(str(path), "--stand-in")
    played = run.line("played by stand-ins")["containers"]
    assert played == "shop/wait, shop/web, shop/rpc, shop/cache"
    run.line("listening")
    wait_for(lambda: ready(run), "the pod to be ready")
    assert "stand-in for shop/web: " in run.verb("logs", "shop", "-c", "web").stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="not root")
def test_a_start_as_root_says_first_what_runs_as_root(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "web.yaml"
    path.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n"
        "  - {name: app, command: [sleep, '3600'], livenessProbe: {exec: {command: [/bin/true]}}}\n"
    )
    run = start(str(path))
    line = run.line("programs of the manifests run as root on this machine; --user NAME")
    assert line["programs"] == "sleep (web/app), /bin/true (web/app)"
    run.line("container started")
    messages = [each["message"] for each in run.log_lines]
    assert messages.index(line["message"]) < messages.index("container started")


def test_without_the_flag_one_line_names_the_containers_and_the_flag(tmp_path: Path) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text(FOREIGN)
    ended = probelet("run", str(path), "--listen", "127.0.0.1:0", "--state-dir", str(tmp_path / "state"))
    assert ended.returncode == 2
    last = ended.stderr.splitlines()[-1]
    names = "shop/web, shop/rpc, shop/cache"
    assert last == (
        f"probelet run: 3 containers have no program on this machine: {names}; "
        "--stand-in puts a server in the place of each"
    )


def test_a_scenario_breaks_a_container_that_was_ready(start: Start, tmp_path: Path) -> None:
    path, scenario = tmp_path / "shop.yaml", tmp_path / "slow.yaml"
    path.write_text(FOREIGN)
    scenario.write_text(
        "apiVersion: probelet.dev/v1alpha1\nkind: Scenario\ncontainers: [{match: shop/rpc, latency: 3s}]\n"
    )
    run = start(str(path), f"--stand-in={scenario}")
    run.line("listening")

    def state() -> dict[str, bool]:
        return {each["name"]: each["ready"] for each in run.status().get("shop", {}).get("containers", [])}

    wait_for(lambda: state().get("web") and state().get("cache"), "the healthy containers to be ready")
    assert state()["rpc"] is False
    ended = probelet("run", str(path), "--stand-in=no-such-file.yaml", "--state-dir", str(tmp_path / "other"))
    assert ended.returncode == 2
    assert "no-such-file.yaml: cannot be read" in ended.stderr


CORPUS = Path(__file__).parents[4] / "shared" / "corpus" / "manifests"


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.is_dir(), reason="no ../shared/corpus")
def test_manifests_of_others_become_ready(start: Start) -> None:
    files = sorted(path for path in CORPUS.rglob("*") if path.suffix in (".yaml", ".yml"))
    for path in random.Random(7).sample(files, 20):
        run = start(str(path), "--stand-in")

        def is_over(run: Run = run) -> bool:
            # A file of patches, of templates or of other kinds has no pod and is refused.
            return run.process.poll() == 2 or ("listening" in run.log.read_text() and all_ready(run))

        wait_for(is_over, f"{path} to be ready")
        run.process.terminate()
        assert run.ended() in (0, 2)


def all_ready(run: Run) -> bool:
    pods = run.status().values()
    return bool(pods) and all(pod["ready"] or pod["phase"] == "Succeeded" for pod in pods)
