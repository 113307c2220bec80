"""The alert rules are valid, fire when they should, and docs/alerts.md has a section for each."""

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
GROUPS: list[dict[str, Any]] = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"]
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


def test_each_alert_has_a_case_in_which_it_fires() -> None:
    cases = yaml.safe_load(CASES.read_text())["tests"]
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
