"""A real Prometheus with the configuration and the rules of deploy/prometheus: a failing probe is an alert.

Only the address and the two intervals of the configuration change; the rules are the shipped file. The alert is pending
as soon as its expression holds. That it fires when its `for` is over, which takes minutes, is shown by `promtool test
rules` (tests/unit/deploy/test_alerts.py).
"""

import json
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.paths import ROOT
from tests.support.required import missing
from tests.system.cli.conftest import Run, Start, manifest, wait_for

pytestmark = pytest.mark.e2e

FOLDER = ROOT / "deploy" / "prometheus"
FAILS = "    readinessProbe: {exec: {command: ['false']}, periodSeconds: 1}"
PASSES = "    readinessProbe: {exec: {command: ['true']}, periodSeconds: 1}"


class Prometheus:
    def __init__(self, config: dict[str, Any], folder: Path) -> None:
        file = folder / "prometheus.yaml"
        file.write_text(yaml.safe_dump(config))
        self.log = folder / "prometheus.log"
        command = ["prometheus", "--config.file", file, "--storage.tsdb.path", folder / "data"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([*command, "--web.listen-address", "127.0.0.1:0"], stderr=log)

    def address(self) -> str:
        """Where it listens: the system chooses the port, and the log names it. Until it is ready it answers 503."""

        def look() -> str:
            text = self.log.read_text()
            assert self.process.poll() is None, text
            ready = "Server is ready to receive web requests" in text
            return text.partition('msg="Listening on" address=')[2].partition("\n")[0] if ready else ""

        found: str = wait_for(look, "the address of Prometheus")
        return found

    def get(self, what: str) -> Any:
        with urllib.request.urlopen(f"http://{self.address()}/api/v1/{what}") as answer:
            return json.load(answer)["data"]

    def rules(self) -> dict[str, dict[str, Any]]:
        return {rule["name"]: rule for group in self.get("rules")["groups"] for rule in group["rules"]}


@pytest.fixture
def run(start: Start, tmp_path: Path, marker: str) -> Run:
    for name, probe in {"fails": FAILS, "passes": PASSES}.items():
        (tmp_path / f"{name}.yaml").write_text(manifest(name, marker, probe=probe))
    return start(str(tmp_path / "fails.yaml"), str(tmp_path / "passes.yaml"))


@pytest.fixture
def prometheus(run: Run, tmp_path: Path) -> Iterator[Prometheus]:
    if shutil.which("prometheus") is None:
        missing("prometheus", "no prometheus; on Debian: apt-get install prometheus")
    config = yaml.safe_load((FOLDER / "prometheus.yaml").read_text())
    config["global"] = dict.fromkeys(config["global"], "1s")
    config["rule_files"] = [str(FOLDER / name) for name in config["rule_files"]]
    for job in config["scrape_configs"]:
        job["static_configs"][0]["targets"] = [run.url.removeprefix("http://")]
    started = Prometheus(config, tmp_path)
    yield started
    started.process.kill()
    started.process.wait()


def test_a_failing_probe_is_an_alert_and_a_passing_one_is_none(prometheus: Prometheus) -> None:
    def look() -> list[dict[str, str]]:
        alert = prometheus.rules().get("ProbeletProbeFailing", {"alerts": []})
        return [found["labels"] for found in alert["alerts"]]

    (labels,) = wait_for(look, "an alert")
    assert labels == {
        "alertname": "ProbeletProbeFailing",
        "severity": "warning",
        "instance": "node-1",
        "namespace": "default",
        "pod": "fails",
        "container": "app",
        "probe_type": "Readiness",
    }
    rules = prometheus.rules()
    assert {name: rule["lastError"] for name, rule in rules.items() if rule.get("lastError")} == {}
    assert rules["ProbeletDown"]["state"] == "inactive"
    assert {target["health"] for target in prometheus.get("targets")["activeTargets"]} == {"up"}
