"""The alert rules of a node and of a cluster: valid, firing when they should, each with a section in docs/alerts.md."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.support.paths import ROOT
from tests.support.required import missing

FOLDER = ROOT / "deploy" / "prometheus"
CASES = Path(__file__).parent / "alerts_test.yaml"
CLUSTER_CASES = Path(__file__).parent / "cluster_alerts_test.yaml"
CLUSTER = ROOT / "deploy" / "kustomize" / "components" / "monitoring" / "prometheus-rule.yaml"
CLUSTER_RULES: dict[str, Any] = yaml.safe_load(CLUSTER.read_text())["spec"]
GROUPS: list[dict[str, Any]] = [
    *yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"],
    *CLUSTER_RULES["groups"],
]
ALERTS: list[dict[str, Any]] = [rule for group in GROUPS for rule in group["rules"]]


def promtool(*arguments: str | Path) -> None:
    if shutil.which("promtool") is None:
        missing("prometheus", "no promtool; on Debian: apt-get install prometheus")
    ended = subprocess.run(
        ["promtool", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert ended.returncode == 0, ended.stdout


def test_promtool_accepts_the_configuration_and_its_rules() -> None:
    promtool("check", "config", FOLDER / "prometheus.yaml")


def test_each_alert_fires_when_it_should_and_not_before() -> None:
    promtool("test", "rules", CASES)


def test_each_alert_of_a_cluster_fires_when_it_should_and_not_before(tmp_path: Path) -> None:
    # The object of the Prometheus operator has the rules as its `spec`.
    (tmp_path / "cluster.yaml").write_text(yaml.safe_dump(CLUSTER_RULES))
    (tmp_path / "cases.yaml").write_text(CLUSTER_CASES.read_text())
    promtool("check", "rules", tmp_path / "cluster.yaml")
    promtool("test", "rules", tmp_path / "cases.yaml")


def test_each_alert_has_a_case_in_which_it_fires() -> None:
    cases = [case for file in (CASES, CLUSTER_CASES) for case in yaml.safe_load(file.read_text())["tests"]]
    fired = str([test["exp_samples"] for case in cases for test in case["promql_expr_test"] if "exp_samples" in test])
    asked = str([test["expr"] for case in cases for test in case["promql_expr_test"] if "exp_samples" in test])
    assert [alert["alert"] for alert in ALERTS if alert["alert"] not in fired + asked] == []


def test_each_alert_says_what_it_means_and_leads_to_its_section() -> None:
    page = (ROOT / "docs" / "alerts.md").read_text()
    headings = re.findall(r"^### (\w+)$", page, re.MULTILINE)
    assert headings == [alert["alert"] for alert in ALERTS]
    for alert in ALERTS:
        assert alert["annotations"].keys() == {"summary", "description", "runbook_url"}
        section = page.split(f"### {alert['alert']}\n", 1)[1].split("\n#", 1)[0]
        lasts = f"for {alert['for']}" if "for" in alert else "at once"
        assert section.lstrip().startswith(f"`{alert['labels']['severity']}`, {lasts}. "), alert["alert"]
        assert alert["annotations"]["runbook_url"] == f"docs/alerts.md#{alert['alert'].lower()}"


def test_the_rules_name_the_jobs_of_the_configuration() -> None:
    jobs = {job["job_name"] for job in yaml.safe_load((FOLDER / "prometheus.yaml").read_text())["scrape_configs"]}
    named = {
        job for alert in ALERTS for jobs in re.findall(r'job=~?"([^"]*)"', alert["expr"]) for job in jobs.split("|")
    }
    assert named == jobs
