"""The pages in docs/reference are what the types and the command line say today."""

import re
from functools import cache
from pathlib import Path

import msgspec
import pytest
from probelet.cli.verbs import installed
from probelet.config import GATES, KubeletConfiguration, ProbeletConfiguration
from probelet.config.schema.field_text import field_texts
from probelet.lint.registry import rules
from probelet.server.document.status import StatusDocument

from tests.support.paths import ROOT
from tools.manual.command import install_completion_page, verb_pages
from tools.reference.documents import INTERNAL, KINDS
from tools.reference.markdown import prose, table
from tools.reference.pages import pages, rule_pages
from tools.reference.since import NEXT, Since

FOLDER = ROOT / "docs" / "reference"
LINT = ROOT / "docs" / "lint"
SCHEMA = re.compile(r'"(probelet-[a-z0-9-]+/\d+)"')


@cache
def made() -> dict[str, str]:
    return pages(FOLDER)


@cache
def made_for_lint() -> dict[str, str]:
    return rule_pages()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def rows(page: str) -> list[list[str]]:
    """The cells of every line of a table."""
    lines = [line for line in made()[page].splitlines() if line.startswith("| ")]
    return [re.split(r" (?<!\\)\| ", line.removeprefix("| ").removesuffix(" |")) for line in lines]


@pytest.mark.parametrize("name", names(FOLDER))
def test_a_page_is_up_to_date(name: str) -> None:
    assert (FOLDER / name).read_text() == made()[name], "run `make reference` and commit docs/reference"


@pytest.mark.parametrize("name", names(LINT))
def test_the_page_of_a_lint_rule_is_up_to_date(name: str) -> None:
    assert (LINT / name).read_text() == made_for_lint()[name], "run `make reference` and commit docs/lint"


def test_no_other_page_is_in_the_folders() -> None:
    assert names(FOLDER) == sorted(made())
    assert names(LINT) == sorted(made_for_lint())


def test_every_rule_has_a_group_and_a_finding_on_its_page() -> None:
    listed = re.findall(r"^\| \[(P[LO]\d+)\]\((P[LO]\d+)\.md\)", made_for_lint()["README.md"], re.MULTILINE)
    assert [rule for rule, _ in listed] == [page for _, page in listed] == list(rules())
    for rule in rules():
        assert re.search(rf"^\d+:\d+  \w+  {rule}  \S", made_for_lint()[f"{rule}.md"], re.MULTILINE), rule


def test_every_field_has_default_range_effect_and_version() -> None:
    entry = r"^### `([^`]+)`\n\n(?=.*default|mapping).*; since \d+\.\d+\.\d+\.\n\n\S.{20,}"
    found = re.findall(entry, made()["configuration.md"], re.MULTILINE)
    fields = [*msgspec.structs.fields(ProbeletConfiguration), *msgspec.structs.fields(KubeletConfiguration)]
    names = [field.encode_name for field in fields if field.encode_name not in ("apiVersion", "kind")]
    assert [name for name in found if "." not in name] == names
    assert {"restartBudget.burst", "crashLoopBackOff.maxContainerRestartPeriod"} <= set(found)


def test_every_verb_and_each_of_its_options_is_there() -> None:
    headings = re.findall(r"^## probelet (\S+)$", made()["command-line.md"], re.MULTILINE)
    assert headings == [*(verb.name for verb in installed()), "--install-completion"]
    labels = {row[0] for row in rows("command-line.md")}
    options = [
        option
        for verb in (*verb_pages(), install_completion_page())
        for command in verb.commands
        for option in command.options
    ]
    assert len(options) > 100
    # A table has a backslash before the stroke that is not its own.
    assert {f"`{option.label}`" for option in options} <= {label.replace("\\|", "|") for label in labels}
    assert all(option.about for option in options)


def test_every_gate_is_there() -> None:
    assert {row[0].strip("`") for row in rows("feature-gates.md")} >= GATES.keys()


def test_every_document_of_the_sources_is_there() -> None:
    sources = [path for folder in ("python/probelet", "conformance") for path in (ROOT / folder).rglob("*.py")]
    known = {schema for path in sources for schema in SCHEMA.findall(path.read_text())}
    assert known == {*INTERNAL, *(schema for kind in KINDS for schema in kind.schemas)}


def test_every_key_of_a_document_has_a_meaning() -> None:
    cells = rows("documents.md")
    assert len(cells) > 200
    assert [row for row in cells if len(row) == 3 and not row[2].removeprefix("May be absent.").strip()] == []


def test_a_key_that_two_documents_share_is_explained_in_both() -> None:
    assert field_texts(StatusDocument)["as_of"] == "The moment of the document."
    assert list(field_texts(StatusDocument))[-1] == "pods"


OLD = "### `a`\n\n`x` or `y`; default `x`; since 3.1.0.\n\n### `b`\n\ninteger; since the next release.\n"


@pytest.mark.parametrize(
    ("changelog", "found"),
    [
        ("## Unreleased\n", ["3.1.0", "3.2.0", "3.2.0"]),
        ("## Unreleased\n## 3.2.0 (2027-01-01)\n", ["3.1.0", NEXT, NEXT]),
        ("## Unreleased\n## 3.1.0\n", ["3.1.0", "3.2.0", "3.2.0"]),
    ],
)
def test_a_field_keeps_its_version_and_a_new_one_gets_that_in_which_it_comes(changelog: str, found: list[str]) -> None:
    since = Since(OLD, changelog, "3.2.0")
    assert [since.of(name) for name in ("a", "b", "new")] == found


def test_text_fits_into_a_table_and_into_lines() -> None:
    assert table(["a"], [["x | y\nz"]]) == ["| a |", "| --- |", "| x \\| y z |"]
    assert prose("a\nb\n\nc") == ["a b", "", "c"]
