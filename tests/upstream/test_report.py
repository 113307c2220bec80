"""Reading a run of upstream's tests: ginkgo's report, and the notes about pods."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.upstream.programs import copy_lifecycle
from tests.upstream.report import UnfinishedError, read
from tests.upstream.row import Probes
from tests.upstream.selection.selection import selection

SPEC: dict[str, Any] = {
    "LeafNodeType": "It",
    "ContainerHierarchyTexts": ["[sig-node] Probing container", "when [Feature:Some] it runs"],
    "LeafNodeText": "should be restarted [NodeConformance] [Conformance]",
    "State": "passed",
    "RunTime": 22_160_000_000,
    "CapturedGinkgoWriterOutput": 'I1129 Destroying namespace "container-probe-1" for this suite.',
}
POD: dict[str, Any] = {
    "metadata": {"uid": "1", "namespace": "container-probe-1", "resourceVersion": "1"},
    "spec": {"containers": [{"name": "a", "startupProbe": {}}], "initContainers": [{"name": "b"}]},
}
NOTES = {
    "probelet.dev/probes": '{"a": {"readinessProbe": {}}, "b": {"readinessProbe": {}}}',
    "apps.kruise.io/container-probe-context": '[{"name": "a"}]',
    "probelet.dev/not-taken-over": "a reason",
}


def run(folder: Path, specs: list[dict[str, Any]], *pods: dict[str, Any]) -> Path:
    (folder / "report.json").write_text(json.dumps([{"SpecReports": specs}]))
    (folder / "pods.jsonl").write_text("".join(json.dumps({"object": pod}) + "\n" for pod in pods))
    return folder


def test_a_test_has_its_name_without_labels_and_its_seconds(tmp_path: Path) -> None:
    (row,) = read(run(tmp_path, [SPEC]))
    assert row.name == "Probing container / when it runs / should be restarted"
    assert (row.state, row.seconds, row.probes) == ("passed", 22.2, Probes())


def test_a_group_whose_outermost_text_is_only_a_label_has_the_name_of_the_next(tmp_path: Path) -> None:
    (row,) = read(run(tmp_path, [{**SPEC, "ContainerHierarchyTexts": ["[sig-node]", "when created", "[Slow]"]}]))
    assert (row.group, row.test) == ("when created", "should be restarted")


def test_skipped_tests_and_other_nodes_of_ginkgo_are_no_rows(tmp_path: Path) -> None:
    others = [{**SPEC, "State": "skipped"}, {**SPEC, "State": "pending"}, {**SPEC, "LeafNodeType": "BeforeSuite"}]
    assert [row.test for row in read(run(tmp_path, [*others, SPEC]))] == ["when it runs / should be restarted"]


def test_a_run_that_was_cut_short_or_played_nothing_is_no_run(tmp_path: Path) -> None:
    suite = {"SpecReports": [SPEC], "SpecialSuiteFailureReasons": ["Suite Timeout Elapsed"]}
    (run(tmp_path, [SPEC]) / "report.json").write_text(json.dumps([suite]))
    with pytest.raises(UnfinishedError, match="Suite Timeout Elapsed"):
        read(tmp_path)
    with pytest.raises(UnfinishedError, match="no test was played"):
        read(run(tmp_path, [{**SPEC, "State": "skipped"}]))


def test_a_pod_counts_as_it_was_last_seen_in_the_namespace_of_its_test(tmp_path: Path) -> None:
    taken = {**POD, "metadata": {**POD["metadata"], "annotations": NOTES}}
    stranger = {**POD, "metadata": {**POD["metadata"], "uid": "2", "namespace": "another"}}
    (row,) = read(run(tmp_path, [SPEC], POD, taken, stranger))
    assert row.probes == Probes(native=1, taken=2, enhanced=1)
    assert row.stayed == ["a reason"]


def test_a_failure_keeps_its_words(tmp_path: Path) -> None:
    failed = {**SPEC, "State": "failed", "Failure": {"Message": "x" * 1000}}
    (row,) = read(run(tmp_path, [failed]))
    assert not row.passed
    assert row.failure == "x" * 400


def test_a_kubelet_that_hands_over_makes_no_probe_itself(tmp_path: Path) -> None:
    (row,) = read(run(tmp_path, [SPEC], POD))
    assert (row.probes, row.probes.moved) == (Probes(native=1), False)
    assert (row.handed_over().probes, row.handed_over().probes.moved) == (Probes(served=1), True)


def test_the_lifecycle_tests_become_a_package_that_others_import(tmp_path: Path) -> None:
    source, into = tmp_path / "e2e_node", tmp_path / "lifecycle"
    source.mkdir()
    into.mkdir()
    for name in ("container_lifecycle_pod_construction.go", "container_lifecycle_test.go"):
        (source / name).write_text("// Text.\npackage e2enode\n\nfunc f() {}\n")
    wait = "func WaitForPodContainerRestartCount(ctx any) {\n\treturn\n}\n"
    (source / "util.go").write_text(f"package e2enode\n\nfunc other() {{\n}}\n\n{wait}")
    copy_lifecycle(source, into)
    assert (into / "lifecycle.go").read_text() == "// Text.\npackage lifecycle\n\nfunc f() {}\n"
    helpers = (into / "waits.go").read_text()
    assert helpers.endswith(f")\n\n{wait}")
    assert "other" not in helpers


def test_the_selection_has_both_parts_of_upstream() -> None:
    flags = selection().flags()
    assert "--focus=Probing container" in flags
    assert any("Containers Lifecycle" in flag for flag in flags)
    assert "--skip=should cap back-off at MaxContainerBackOff" in flags
