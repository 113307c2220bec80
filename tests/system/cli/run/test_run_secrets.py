"""Where the secrets of a manifest and of a target show: nowhere that a kubelet does not show them too.

A kubelet writes the URL of an HTTP probe that got no answer, with its query, and the output of an exec probe into
events. At ``-v=4`` it also logs headers and exec commands; probelet logs neither at any level.
"""

import json
import stat
from pathlib import Path

import pytest
from probelet.server.control.client import Client

from tests.support.web import Server
from tests.system.cli.conftest import Run, Start, processes_with, wait_for
from tests.system.cli.run.test_run_life import page

pytestmark = pytest.mark.e2e

SHOWN = ("query-0a1b", "output-2c3d")
"""In events, in the last message of a probe's status, and in its history, which the journal keeps for its own user."""

HIDDEN = (
    *("note-4e5f", "printed-6a7b", "variable-8c9d", "argument-0e1f", "header-2a3b", "body-4c5d", "word-6e7f"),
    # The values of a Secret, as a text and as the manifest has them.
    *("of-a-secret-8a9b", "b2YtYS1zZWNyZXQtOGE5Yg==", "other-0c1d"),
)

CONFIG = "apiVersion: probelet.dev/v1alpha1\nkind: ProbeletConfiguration\nrestore: full\n"
FAST = {"periodSeconds": 1, "failureThreshold": 1000}


def secretive(port: int, marker: str) -> str:
    header = [{"name": "Authorization", "value": "header-2a3b"}]
    script = f"echo printed-6a7b; sleep 86400; : argument-0e1f {marker}"
    failing = ["sh", "-c", "echo output-2c3d; exit 1; : word-6e7f $(TOKEN)"]
    container = {
        "name": "app",
        "command": ["sh", "-c", script],
        "env": [
            {"name": "TOKEN", "value": "variable-8c9d"},
            {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "KEY"}}},
        ],
        "envFrom": [{"prefix": "ALL_", "secretRef": {"name": "keys"}}],
        "livenessProbe": {"exec": {"command": failing}, **FAST},
        "readinessProbe": {
            "httpGet": {"port": 1, "path": "/?token=query-0a1b", "host": "127.0.0.1", "httpHeaders": header}, **FAST,
        },
        "startupProbe": {
            "httpGet": {"port": port, "path": "/", "host": "127.0.0.1", "httpHeaders": header}, **FAST,
        },
    }  # fmt: skip
    metadata = {"name": "web", "annotations": {"note": "note-4e5f"}}
    spec = {"terminationGracePeriodSeconds": 0, "containers": [container]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    values = {"data": {"KEY": "b2YtYS1zZWNyZXQtOGE5Yg=="}, "stringData": {"OTHER": "other-0c1d"}}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, **values}
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [pod, secret]})


def events(run: Run) -> str:
    return json.dumps(Client(run.state_dir).events())


def journal(run: Run) -> str:
    return (run.state_dir / "journal").read_bytes().decode(errors="replace")


def command_lines(run: Run) -> str:
    """Of the service and the embedded runtime."""
    found = [Path(f"/proc/{pid}/cmdline").read_text() for pid in processes_with(str(run.state_dir))]
    assert len(found) >= 2
    return " ".join(found)


def test_secrets_show_only_where_a_kubelet_shows_them(start: Start, tmp_path: Path, marker: str) -> None:
    manifest, config = tmp_path / "web.yaml", tmp_path / "config.yaml"
    config.write_text(CONFIG)
    answers = [500, 200]
    with Server(lambda _: (answers.pop(0) if len(answers) > 1 else answers[0], {}, "body-4c5d")) as target:
        manifest.write_text(secretive(target.port, marker))
        run = start(str(manifest), "--config", str(config), "--log-level", "debug")
        run.line("listening")
        wait_for(lambda: all(secret in events(run) for secret in SHOWN), "events of both probes")
        container = min(processes_with(f"argument-0e1f {marker}"))
        given = Path(f"/proc/{container}/environ").read_text().split("\0")
    pages = {name: page(f"{run.url}/{name}")[2] for name in ("statusz", "configz", "metrics", "metrics/probes")}
    pages |= {"log": run.log.read_text(), "events": events(run), "processes": command_lines(run)}
    wait_for(lambda: any(secret in journal(run) for secret in SHOWN), "a failure in the journal, which batches")
    pages["journal"] = journal(run)
    assert {name for name, text in pages.items() for secret in HIDDEN if secret in text} == set()
    assert {name for name, text in pages.items() for secret in SHOWN if secret in text} == {
        "events",
        "statusz",
        "journal",
    }
    assert {"KEY=of-a-secret-8a9b", "ALL_OTHER=other-0c1d"} <= set(given), "only the container has them"
    assert stat.S_IMODE(run.state_dir.stat().st_mode) == 0o700, "nobody else reads the container logs and sockets in it"
