"""``--prove``: the simulator shows what a finding does, and that it does not without it."""

import io
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from probelet.lab.simulate import play
from probelet.lint.registry import rules
from probelet.lint.rule import Rule

from tests.unit.cli.conftest import Probelet

BY_ASSUMPTION = {"PL101", "PL104"}
"""What a path asks is not in a manifest: the scenario assumes it, and says so, for the good example too."""

PROVED = [rule for rule in rules().values() if rule.scenario]

WORSE = ("kills", "restarts", "unready_pods_max", "longest_outage_seconds")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("web.yaml").write_text(rules()["PL203"].bad)


def harm(rule: Rule, text: str) -> dict[str, Any]:
    document = play(list(yaml.safe_load_all(text)), rule.scenario, advise=False)
    found = document["verdict"]
    return {**{name: found[name] for name in WORSE}, "lost": found["requests"]["lost"]}  # type: ignore[literal-required]


def test_the_text_has_the_finding_and_what_happened(probelet: Probelet) -> None:
    ended = probelet("lint", "web.yaml", "--prove", "PL203@web", "--picture", "web.html")
    head, message, _, scenario, *more = ended.out.splitlines()
    assert ended.code == 0
    assert head == "PL203 liveness-faster-than-readiness: web.yaml:8:7"
    assert message.startswith("Pod/default/web: a container that hangs is killed after at most 16 s")
    assert scenario.startswith("gc-pause: ")
    assert any("kill" in line for line in more)
    assert ended.out.rstrip().endswith("probelet lint web.yaml --prove PL203@web")
    assert "<svg" in Path("web.html").read_text()


@pytest.mark.parametrize("owner", ["PL203", "pl203@web", "PL203@Pod/web", "PL203@Pod/default/web"])
def test_an_object_has_several_names(probelet: Probelet, owner: str) -> None:
    assert probelet("lint", "web.yaml", "--prove", owner, "--picture", "web.svg").code == 0
    assert Path("web.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--prove", "PL999@web"), 'there is no rule "PL999"'),
        (("--prove", "PL203@api"), "no finding PL203@api in these manifests; it is found in Pod/default/web"),
        (("--prove", "PL401@web"), "no finding PL401@web in these manifests"),
        (("--picture", "web.svg"), "--picture is for --prove RULE@OBJECT"),
        (("--prove", "PL203@web", "--picture", "web.png"), "web.png has to end in .html or .svg"),
        (("--prove", "PL203@web", "--picture", "nowhere/web.svg"), "there is no directory nowhere"),
    ],
)
def test_what_cannot_be_proved_is_one_line(probelet: Probelet, arguments: tuple[str, ...], line: str) -> None:
    ended = probelet("lint", "web.yaml", *arguments)
    assert ended.code == 2
    assert line in ended.err.splitlines()[0]


def test_a_rule_without_a_scenario_says_so(probelet: Probelet) -> None:
    Path("web.yaml").write_text(rules()["PL520"].bad)
    assert "PL520 has no scenario" in probelet("lint", "web.yaml", "--prove", "PL520").err


def test_standard_input_cannot_be_proved(probelet: Probelet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"{}")))
    assert "standard input can be read only once" in probelet("lint", "-", "--prove", "PL203").err


@pytest.mark.parametrize("rule", PROVED, ids=lambda rule: rule.id)
def test_the_scenario_of_a_rule_is_worse_with_the_finding_than_without(rule: Rule) -> None:
    bad, good = harm(rule, rule.bad), harm(rule, rule.good)
    if rule.id in BY_ASSUMPTION:
        good = dict.fromkeys(bad, 0)
    assert any(bad[name] > good[name] for name in bad), f"{rule.scenario}: {bad} {good}"
