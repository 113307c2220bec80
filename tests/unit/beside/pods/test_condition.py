"""The condition of the readiness gate as a function, over random pods and statuses."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from probelet.beside.pods.condition import gated, readiness
from probelet.beside.pods.instances import named_in
from probelet.policy.status.ready_condition import ready_condition

from tests.unit.agent.made_pod import EXEC, made_pod, probed_pod

NAMES = ("a", "b", "c")
KINDS = ("livenessProbe", "readinessProbe", "startupProbe")

rows = st.fixed_dictionaries(
    {"state": st.sampled_from(("running", "waiting", "terminated")), "ready": st.booleans(), "started": st.booleans()}
)
statuses = st.dictionaries(st.sampled_from((*NAMES, "side")), rows)
taken = st.dictionaries(
    st.sampled_from((*NAMES, "side")), st.sets(st.sampled_from(KINDS), min_size=1).map(sorted), max_size=4
)


def status_of(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    named = [{"name": name, "id": f"containerd://{name}0123", **row} for name, row in found.items()]
    return {
        "phase": "Running",
        "containers": [row for row in named if row["name"] != "side"],
        "init_containers": [row for row in named if row["name"] == "side"],
    }


def pod_of(probes: dict[str, list[str]]) -> Any:
    containers: list[dict[str, Any]] = [{"name": name, "image": "i"} for name in NAMES]
    sidecar = {"name": "side", "image": "i", "restartPolicy": "Always"}
    # A sidecar with a startup probe stays native.
    written = {name: dict.fromkeys(kinds, EXEC) for name, kinds in probes.items()}
    written.get("side", {}).pop("startupProbe", None)
    return probed_pod(made_pod(written, containers=containers, initContainers=[sidecar]))


def is_fine(row: dict[str, Any]) -> bool:
    return (row.get("state"), row.get("ready")) == ("running", True)


@given(taken, statuses)
def test_the_gate_is_open_if_and_only_if_every_gated_container_runs_and_is_ready(
    probes: dict[str, list[str]], found: dict[str, dict[str, Any]]
) -> None:
    pod = pod_of(probes)
    decisive = {name for name, kinds in probes.items() if {"readinessProbe", "startupProbe"} & set(kinds)}
    decisive -= {"side"} if probes.get("side") in (["startupProbe"], ["livenessProbe", "startupProbe"]) else set()
    assert set(gated(pod)) == decisive
    unready = {name for name in decisive if not is_fine(found.get(name, {}))}
    result = readiness(pod, status_of(found))
    assert result.ready is not bool(unready)
    if unready:
        assert result.reason == "ContainersNotReady"
        assert set(result.message.partition("[")[2].rstrip("]").split()) == unready
    else:
        assert (result.reason, result.message) == ("", "")


@given(taken, statuses)
def test_the_message_names_the_instances_that_have_passed_probes_and_is_read_as_it_is_written(
    probes: dict[str, list[str]], found: dict[str, dict[str, Any]]
) -> None:
    pod = pod_of(probes)
    result = readiness(pod, status_of(found))
    named = named_in(result.condition_message)
    assert named == result.instances
    assert result.condition_message.startswith(result.message)
    assert set(named.ready) == {name for name in gated(pod) if is_fine(found.get(name, {}))}
    for name in gated(pod):
        id, row = f"containerd://{name}0123", found.get(name, {})
        assert named.is_ready(name, id) == is_fine(row)
        assert not named.is_ready(name, f"{id}4")
        if name != "side" and "startupProbe" in probes[name]:
            has_started = row.get("state") == "running" and row.get("started") is True
            assert named.has_started(name, id) == (is_fine(row) or (not result.ready and has_started))


@given(st.text())
def test_a_message_of_somebody_else_names_whatever_it_names(message: str) -> None:
    found = named_in(message)
    assert named_in(found.text) == found


@given(taken, statuses, st.sets(st.sampled_from(NAMES)))
def test_a_container_of_which_nobody_knows_is_never_ready(
    probes: dict[str, list[str]], found: dict[str, dict[str, Any]], unprobed: set[str]
) -> None:
    result = readiness(pod_of(probes), status_of(found), unprobed)
    if unprobed:
        assert not result.ready
        assert unprobed <= set(result.message.partition("[")[2].rstrip("]").split())


@given(statuses)
def test_where_every_probe_was_taken_over_the_words_are_the_kubelets(found: dict[str, dict[str, Any]]) -> None:
    pod = pod_of({name: ["readinessProbe"] for name in (*NAMES, "side")})
    status = {**status_of(found), "ready": False}
    running = all(row["state"] == "running" for row in found.values())
    if running and not readiness(pod, status).ready:
        kubelets = ready_condition(pod, status)
        mine = readiness(pod, status)
        assert (mine.reason, mine.message) == (kubelets.reason, kubelets.message)
