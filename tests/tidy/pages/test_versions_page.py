"""docs/versions.md: what it calls deprecated is what warns, and nothing else does."""

import re
import sys
from importlib import import_module
from pathlib import Path

import probelet
import pytest
from probelet._rust import version
from probelet.config.alias import GATE_ALIASES
from probelet.config.load import load_config
from probelet.config.opt_in import ALIASES, API_VERSION, KIND
from probelet.virtual.cluster import VirtualCluster

from tests.support.paths import ROOT

PAGE = (ROOT / "docs/versions.md").read_text()
ROW = re.compile(r"^\| (?P<old>[^|]+) \| (?P<new>[^|]+) \| (?P<since>\d+\.\d+\.\d+) \|$", re.MULTILINE)
PYTHON = {
    "probelet.Cluster": "probelet.VirtualCluster",
    "probelet.virtual.cluster.Cluster": "probelet.VirtualCluster",
    "probelet.cluster": "probelet.virtual.cluster",
}


def words(cell: str) -> set[str]:
    return set(re.findall(r"`([\w.]+)`", cell)) - {KIND}


def test_the_table_has_the_old_names_of_the_code_with_the_new_ones() -> None:
    table = ROW.findall(PAGE.partition("## What is deprecated now")[2])
    known = {**ALIASES, **GATE_ALIASES, **PYTHON}
    assert set().union(*(words(old) for old, _, _ in table)) == set(known)
    for old, new, _ in table:
        assert {known[name] for name in words(old)} == words(new)


@pytest.mark.parametrize("document", [f"{old}: spread" for old in ALIASES])
def test_an_old_field_warns_and_means_the_new_one(tmp_path: Path, document: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(f"apiVersion: {API_VERSION}\nkind: {KIND}\n{document}\n")
    read = load_config(file)
    (problem,) = read.warnings
    assert (problem.severity, problem.message) == ("warning", "deprecated: the option is called schedule")
    assert read.probelet.schedule == "spread"


@pytest.mark.parametrize("module", ["probelet", "probelet.virtual.cluster"])
def test_an_old_name_of_python_warns_each_time(module: str) -> None:
    for _ in range(2):
        with pytest.warns(DeprecationWarning, match=rf"{module}.Cluster is now {module}.VirtualCluster"):
            assert import_module(module).Cluster is VirtualCluster
    assert not hasattr(probelet, "Clusters")
    assert not hasattr(import_module("probelet.virtual.cluster"), "Clusters")


def test_the_old_module_of_clusters_warns_and_has_the_same_names() -> None:
    sys.modules.pop("probelet.cluster", None)
    with pytest.warns(DeprecationWarning, match=r"probelet.cluster is now probelet.virtual.cluster"):
        module = import_module("probelet.cluster")
    assert module.Cluster is module.VirtualCluster is VirtualCluster
    assert set(module.__all__) == {*import_module("probelet.virtual.cluster").__all__, "Cluster"}


def test_the_version_of_the_workspace_gets_security_fixes_and_the_minor_one_before_is_named() -> None:
    rows = dict(re.findall(r"^\| (\d+\.\d+)\.x \| (\w+)", (ROOT / "SECURITY.md").read_text(), re.MULTILINE))
    major, minor, _ = version().split(".")
    assert rows[f"{major}.{minor}"] == "yes"
    assert {each for each, answer in rows.items() if answer == "yes"} == {f"{major}.{minor}"}
    released = re.findall(r"^## (\d+\.\d+)\.\d+", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert set(rows) == set(released)


def test_each_line_of_the_changelog_says_what_kind_of_change_it_is() -> None:
    sections = re.split(r"^#{2,3} ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
    lines = [
        line
        for section in sections
        if not section.startswith("Upgrade from ")
        for line in section.splitlines()
        if line.startswith("- ")
    ]
    assert lines
    kinds = re.compile(r"- \[(FEATURE|CHANGE|FIX|SECURITY)\] ")
    assert [line for line in lines if not kinds.match(line)] == []
