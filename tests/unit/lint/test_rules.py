"""Every rule keeps its promises: its examples, its texts, its name. A new rule is one file; these tests find it."""

import re
from pathlib import Path

import pytest
from probelet.lint.fix.fixed import fixed
from probelet.lint.registry import rule_modules, rules
from probelet.lint.rule import Rule

from tests.unit.lint.linted import of_rule, report


def each(*found: Rule) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("rule", found, ids=lambda rule: rule.id)


RULES = each(*rules().values())
ABOUT_PODS = each(*(rule for rule in rules().values() if not rule.id.startswith("PL0")))
WITH_FORMULA = each(*(rule for rule in rules().values() if rule.formula))


def test_the_registry_finds_the_rules_and_no_id_twice() -> None:
    modules = list(rule_modules())
    assert len(modules) == len(rules()) > 5


def test_each_file_has_the_name_of_its_rule() -> None:
    for module in rule_modules():
        rule: Rule = module.RULE
        assert module.__name__.rpartition(".")[2] == f"{rule.id.lower()}_{rule.name.replace('-', '_')}"
        assert module.__doc__ is not None
        assert module.__doc__.startswith(f"{rule.id}: ")


@RULES
def test_the_bad_example_has_the_finding_and_the_good_one_has_not(rule: Rule, tmp_path: Path) -> None:
    bad = of_rule(report(tmp_path, rule.bad, rule.settings).findings, rule.id)
    assert bad, "the bad example has no such finding"
    good = report(tmp_path, rule.good, rule.settings)
    assert of_rule(good.findings, rule.id) == []
    assert [finding.rule for finding in good.findings if finding.severity == "error"] == []


@RULES
def test_no_guess_is_an_error(rule: Rule, tmp_path: Path) -> None:
    found = of_rule(report(tmp_path, rule.bad, rule.settings).findings, rule.id)
    assert [each for each in found if each.severity == "error" and each.confidence == "heuristic"] == []


@RULES
def test_the_finding_is_where_the_bad_example_has_its_field(rule: Rule, tmp_path: Path) -> None:
    lines = rule.bad.splitlines()
    for finding in of_rule(report(tmp_path, rule.bad, rule.settings).findings, rule.id):
        at = lines[finding.line - 1][finding.column - 1 :]
        # The field itself, or the nearest parent that the text has.
        names = [*reversed(re.findall(r"[A-Za-z][\w/.-]*", re.sub(r"\[\d+\]", "", finding.path)))]
        parts = {part for name in names for part in name.split(".")}
        assert not finding.path or any(at.startswith((part, f'"{part}"', "name:", "{")) for part in parts), at


@ABOUT_PODS
def test_the_api_server_would_accept_both_examples(rule: Rule, tmp_path: Path) -> None:
    for text in (rule.bad, rule.good):
        found = report(tmp_path, text, rule.settings).findings
        assert [finding for finding in found if finding.rule.startswith("PL0")] == []


@WITH_FORMULA
def test_a_message_has_the_numbers_of_its_formula(rule: Rule, tmp_path: Path) -> None:
    for finding in of_rule(report(tmp_path, rule.bad, rule.settings).findings, rule.id):
        assert re.search(r"\d", finding.message)


@RULES
def test_the_texts_of_a_rule_are_complete(rule: Rule) -> None:
    assert re.fullmatch(r"P[LO]\d{3}", rule.id)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert rule.summary.endswith(".")
    assert "\n" not in rule.summary
    assert len(rule.why.split()) >= 25, "say what happens to the pod"
    assert rule.source
    assert not (rule.confidence == "heuristic" and rule.severity == "error"), "a rule that guesses is no error"


@RULES
def test_a_safe_fix_mends_the_bad_example(rule: Rule, tmp_path: Path) -> None:
    text = rule.bad
    found = [each for each in of_rule(report(tmp_path, text, rule.settings).findings, rule.id)]
    safe = [each for each in found if each.fix is not None and each.fix.is_safe and each.fix.changes]
    result = fixed(text, safe)
    assert result.left == []
    after = of_rule(report(tmp_path, result.text, rule.settings).findings, rule.id)
    assert len(after) == len(found) - len(safe)
