"""Merging states into the status: OpenKruise's own cases, and the laws."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from probelet.beside.probes.merge import merged_status, with_status
from probelet.beside.probes.report import Report
from probelet.beside.probes.wanted import Key

Names = dict[str, list[str]]


def node_probes(wanted: Names, status: dict[str, dict[str, str]]) -> dict[str, Any]:
    """An object whose spec has these probes by pod, and whose status has these states by pod and probe."""
    spec = [
        {"name": pod, "namespace": "ns", "uid": f"uid-{pod}", "IP": "", "probes": [{"name": name} for name in names]}
        for pod, names in wanted.items()
    ]
    found = [
        {
            "name": pod,
            "namespace": "ns",
            "uid": f"uid-{pod}",
            "probeStates": [{"name": name, "state": state} for name, state in states.items()],
        }
        for pod, states in status.items()
    ]
    return {"metadata": {"name": "node"}, "spec": {"podProbes": spec}, "status": {"podProbeStatuses": found}}


def states(merged: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    return {pod["name"]: {each["name"]: each["state"] for each in pod["probeStates"]} for pod in merged}


def succeeded(pod: str, name: str) -> dict[Key, Report]:
    return {(f"uid-{pod}", name): Report("Succeeded", 1_000)}


def test_upstream_update_1_a_pod_without_a_state_is_appended() -> None:
    obj = node_probes({"pod-0": ["healthy"], "pod-1": ["healthy"]}, {"pod-0": {"healthy": "Succeeded"}})
    merged = merged_status(obj, succeeded("pod-1", "healthy"))
    assert states(merged) == {"pod-0": {"healthy": "Succeeded"}, "pod-1": {"healthy": "Succeeded"}}
    assert [pod["name"] for pod in merged] == ["pod-0", "pod-1"]


def test_upstream_update_2_only_the_reported_state_flips_and_the_order_stays() -> None:
    before = {"other": "Failed", "healthy": "Failed"}
    merged = merged_status(
        node_probes({"pod-1": ["healthy", "other"]}, {"pod-1": before}), succeeded("pod-1", "healthy")
    )
    assert states(merged) == {"pod-1": {"other": "Failed", "healthy": "Succeeded"}}
    assert [each["name"] for each in merged[0]["probeStates"]] == ["other", "healthy"]


def test_upstream_update_3_a_state_that_is_new_is_appended() -> None:
    obj = node_probes({"pod-1": ["healthy", "other"]}, {"pod-1": {"other": "Failed"}})
    merged = merged_status(obj, succeeded("pod-1", "healthy"))
    assert [each["name"] for each in merged[0]["probeStates"]] == ["other", "healthy"]


def test_upstream_update_4_states_of_probes_that_are_not_wanted_go_and_pods_without_states_too() -> None:
    obj = node_probes(
        {"pod-1": ["healthy"], "pod-2": ["healthy"]},
        {"pod-1": {"healthy": "Failed", "gone": "Failed"}, "pod-2": {"gone": "Failed"}, "pod-3": {"x": "Failed"}},
    )
    assert states(merged_status(obj, {})) == {"pod-1": {"healthy": "Failed"}}


def test_d9_a_status_as_it_should_be_is_no_write() -> None:
    obj = node_probes({"pod-1": ["healthy"]}, {})
    reports = succeeded("pod-1", "healthy")
    written = with_status(obj, reports)
    assert written is not None
    assert with_status(written, reports) is None
    assert written["metadata"] == obj["metadata"]


def test_d9_a_state_that_nobody_here_reports_keeps_every_byte() -> None:
    obj = node_probes({"pod-1": ["healthy", "ppm#check"]}, {"pod-1": {"ppm#check": "Failed"}})
    foreign = {"name": "ppm#check", "state": "Odd", "lastProbeTime": "yesterday", "field": [1]}
    obj["status"]["podProbeStatuses"][0]["probeStates"] = [foreign]
    assert merged_status(obj, succeeded("pod-1", "healthy"))[0]["probeStates"][0] == foreign


PODS = st.dictionaries(st.sampled_from("abc"), st.lists(st.sampled_from("xyz"), max_size=3), max_size=3)
STATES = st.dictionaries(
    st.sampled_from("abcd"), st.dictionaries(st.sampled_from("xyzv"), st.sampled_from(["Failed", "Unknown"]))
)
REPORTS = st.dictionaries(st.tuples(st.sampled_from(["uid-a", "uid-b", "uid-q"]), st.sampled_from("xyzw")), st.none())


@given(PODS, STATES, REPORTS)
def test_only_wanted_probes_have_a_state_reports_win_and_a_second_merge_changes_nothing(
    wanted: Names, status: dict[str, dict[str, str]], keys: dict[Key, None]
) -> None:
    obj = node_probes(wanted, status)
    reports = {key: Report("Succeeded", 1_000) for key in keys}
    merged = merged_status(obj, reports)
    expected: dict[str, dict[str, str]] = {}
    for pod, names in wanted.items():
        for name in names:
            if (f"uid-{pod}", name) in reports:
                expected.setdefault(pod, {})[name] = "Succeeded"
            elif name in status.get(pod, {}):
                expected.setdefault(pod, {})[name] = status[pod][name]
    assert states(merged) == expected
    again = {**obj, "status": {"podProbeStatuses": merged}}
    assert merged_status(again, reports) == merged
