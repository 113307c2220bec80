"""docs/lint: a page for each rule of ``probelet lint``, and their list."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from probelet.lint.engine import lint
from probelet.lint.finding import SEVERITIES
from probelet.lint.registry import rules
from probelet.lint.rule import Rule
from probelet.lint.settings import Settings

from tools.reference.markdown import block, prose, table

HEAD = """
# Rules of probelet lint

For authors of pod manifests: every rule of [`probelet lint`](../lint.md), with a page for each. A rule's file in
`python/probelet/lint/rules` is its only place: check, texts and examples; this page and the others are made from it.
"""

LETTERS = """
The letters are those of [`probelet explain`](../explain.md): d is initialDelaySeconds, p periodSeconds, T
timeoutSeconds, F failureThreshold, S successThreshold.
"""

GROUPS = {
    "PL0": "The manifest itself",
    "PL1": "Readiness",
    "PL2": "Liveness",
    "PL3": "Start-up",
    "PL4": "Fields, numbers and targets",
    "PL5": "Commands, neighbours and the node",
    "PL6": "Several workloads",
    "PO1": "Observations",
}
"""The groups by the beginning of a rule's id."""


def lint_pages() -> dict[str, str]:
    """The pages by the name of their file."""
    return {
        "README.md": "\n".join(_index()),
        **{f"{rule.id}.md": "\n".join(_page(rule)) for rule in rules().values()},
    }


def _index() -> Iterator[str]:
    yield from prose(HEAD)
    counts = [f"{sum(rule.severity == severity for rule in rules().values())} {severity}" for severity in SEVERITIES]
    text = f"{len(rules())} rules, by their usual severity: {', '.join(counts)}. A single finding may have another one."
    yield from ("", *prose(text))
    for begin, title in GROUPS.items():
        found = [rule for rule in rules().values() if rule.id.startswith(begin)]
        if found:
            rows = ([f"[{rule.id}]({rule.id}.md)", rule.name, _severity(rule), rule.summary] for rule in found)
            yield from ("", f"## {title}", "", *table(["rule", "name", "severity", "what it says"], rows))


def _said(settings: Settings) -> Iterator[str]:
    """The flags of an example."""
    for name in ("kubelet_version", "client_timeout", "dependency_max", "startup_p99", "pods_per_node"):
        value = getattr(settings, name)
        if value != getattr(Settings(), name):
            text = value if name in ("kubelet_version", "pods_per_node") else f"{value:g}s"
            yield f"`--{name.replace('_', '-')} {text}`"


def _severity(rule: Rule) -> str:
    return f"{rule.severity}, a guess from names" if rule.confidence == "heuristic" else rule.severity


def _page(rule: Rule) -> Iterator[str]:
    yield f"# {rule.id}: {rule.name}"
    yield from ("", *prose(f"For authors of pod manifests. Severity: {_severity(rule)}. {rule.summary}"))
    yield from ("", *rule.why.strip().splitlines())
    if rule.formula:
        yield from ("", "## Formula", "", *prose(rule.formula))
        yield from ("", *prose(LETTERS))
    yield from ("", "## With the finding", "", *_example(rule, rule.bad), "", "```text", *_report(rule), "```")
    if said := list(_said(rule.settings)):
        yield from ("", *prose(f"The command line of this example has {' and '.join(said)}."))
    yield from ("", "## Without it", "", *_example(rule, rule.good))
    if rule.fix:
        yield from ("", "## What to do", "", *rule.fix.strip().splitlines())
    yield from ("", "## Sources", "", *(f"- {_link(source)}" for source in rule.source))
    yield from ("", "[All rules](README.md), and [how to accept a finding](../lint.md#accepting-a-finding).")


def _example(rule: Rule, text: str) -> list[str]:
    reason = "this text is no YAML" if rule.id == "PL001" and text == rule.bad else ""
    return block("yaml", text.strip().splitlines(), not_run=reason)


def _link(source: str) -> str:
    return f"<{source}>" if source.startswith("https://") else source


def _report(rule: Rule) -> Iterator[str]:
    """The findings of the rule in its bad example, as the command line shows them."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "bad.yaml"
        path.write_text(rule.bad, encoding="utf-8")
        for found in lint([path], rule.settings).findings:
            if found.rule == rule.id:
                owner = f"{found.object}: " if found.object else ""
                yield f"{found.line}:{found.column}  {found.severity}  {rule.id}  {owner}{found.message}"
