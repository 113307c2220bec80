"""Kills and starts of a sync: the runtime manager's cases (computePodActions and computeInitContainerActions)."""

from typing import Any

import pytest
from probelet.policy.facts.probe_state import ProbeState
from probelet.policy.facts.snapshot import ContainerRecord, Snapshot, State
from probelet.policy.sync.compute import compute_pod_actions
from probelet.policy.sync.plan import PodActions
from probelet.spec.model.pod import Pod

from tests.unit.policy.rig import make_pod, record, sandbox

PROBE = {"exec": {"command": ["true"]}}
THREE = [{"name": "c0"}, {"name": "c1"}, {"name": "c2"}]
SIDECAR = {"restartPolicy": "Always"}
SIDECARS = [{"name": f"s{n}", "restartPolicy": "Always"} for n in range(3)]


def compute(pod: Pod, *records: ContainerRecord, results: dict[tuple[str, str], Any] | None = None) -> PodActions:
    return compute_pod_actions(pod, Snapshot((sandbox(),), records), ProbeState(results or {}))


def killed(actions: PodActions) -> list[str]:
    return [victim.message for victim in actions.kill]


def starts(actions: PodActions) -> list[str]:
    return [container.name for container in (*actions.start_init, *actions.start)]


@pytest.mark.parametrize("probe", ["liveness", "startup"])
def test_a_failed_probe_kills_the_container_and_starts_it_again(probe: str) -> None:
    pod = make_pod(*THREE)
    running = [record(pod, container["name"]) for container in THREE]
    actions = compute(pod, *running, results={(probe, "t://c1-0"): "Failure"})
    assert killed(actions) == [f"Container c1 failed {probe} probe, will be restarted"]
    assert starts(actions) == ["c1"]
    assert not actions.kill_pod


@pytest.mark.parametrize("result", [None, "Unknown", "Success"])
def test_a_missing_unknown_or_good_result_never_kills(result: str | None) -> None:
    pod = make_pod()
    results = {("liveness", "t://app-0"): result, ("startup", "t://app-0"): result} if result else {}
    actions = compute(pod, record(pod, "app"), results=results)
    assert (actions.kill, actions.start, actions.kill_pod) == ([], [], False)


def test_a_liveness_failure_comes_before_a_startup_failure() -> None:
    pod = make_pod()
    both = {("liveness", "t://app-0"): "Failure", ("startup", "t://app-0"): "Failure"}
    assert killed(compute(pod, record(pod, "app"), results=both)) == [
        "Container app failed liveness probe, will be restarted"
    ]


@pytest.mark.parametrize(
    ("pod_policy", "own", "restarts"),
    [
        ("Always", None, True),
        ("OnFailure", None, True),
        ("Never", None, False),
        ("Never", "OnFailure", True),
        ("Always", "Never", False),
    ],
)
def test_after_a_probe_kill_only_the_policy_never_prevents_a_restart(
    pod_policy: str, own: str | None, restarts: bool
) -> None:
    container = {"name": "app", "restartPolicy": own} if own else {"name": "app"}
    pod = make_pod(container, {"name": "other"}, restartPolicy=pod_policy)
    failure = {("liveness", "t://app-0"): "Failure"}
    actions = compute(pod, record(pod, "app"), record(pod, "other"), results=failure)
    suffix = ", will be restarted" if restarts else ""
    assert killed(actions) == [f"Container app failed liveness probe{suffix}"]
    assert starts(actions) == (["app"] if restarts else [])
    assert not actions.kill_pod


def test_the_pod_is_killed_when_its_last_container_will_not_be_restarted() -> None:
    pod = make_pod(init=SIDECARS[:1], restartPolicy="Never")
    actions = compute(
        pod, record(pod, "app"), record(pod, "s0", State.EXITED), results={("startup", "t://app-0"): "Failure"}
    )
    assert actions.kill_pod
    assert starts(actions) == []


@pytest.mark.parametrize(
    ("policy", "code", "again"),
    [("Always", 0, True), ("OnFailure", 0, False), ("OnFailure", 1, True), ("Never", 1, False)],
)
def test_the_restart_policy_decides_whether_an_exit_leads_to_a_start(policy: str, code: int, again: bool) -> None:
    pod = make_pod({"name": "app"}, {"name": "other"}, restartPolicy=policy)
    actions = compute(pod, record(pod, "app", State.EXITED, exit_code=code), record(pod, "other"))
    assert starts(actions) == (["app"] if again else [])


def test_restart_rules_come_before_the_containers_own_policy_and_never_without_one() -> None:
    rule = {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}
    other = {"name": "other"}
    with_policy = make_pod(
        {"name": "app", "restartPolicy": "Never", "restartPolicyRules": [rule]}, other, restartPolicy="Never"
    )
    without = make_pod({"name": "app", "restartPolicyRules": [rule]}, other, restartPolicy="Never")
    for pod, code, again in ((with_policy, 42, True), (with_policy, 1, False), (without, 42, False)):
        actions = compute(pod, record(pod, "app", State.EXITED, exit_code=code), record(pod, "other"))
        assert starts(actions) == (["app"] if again else []), (pod, code)


def test_a_container_in_unknown_state_is_killed_before_another_is_started() -> None:
    pod = make_pod()
    actions = compute(pod, record(pod, "app", State.UNKNOWN))
    assert killed(actions) == ['Container is in "unknown" state, try killing it before restart']
    assert starts(actions) == ["app"]


def test_a_new_image_replaces_the_running_container_whatever_the_policy() -> None:
    pod = make_pod(restartPolicy="Never")
    actions = compute(pod, record(pod, "app", definition="older"))
    assert killed(actions) == ["Container app definition changed, will be restarted"]
    assert starts(actions) == ["app"]


def test_a_pod_without_a_sandbox_gets_its_first_one() -> None:
    actions = compute_pod_actions(make_pod(*THREE), Snapshot(), ProbeState())
    assert (actions.create_sandbox, actions.attempt, starts(actions)) == (True, 0, ["c0", "c1", "c2"])


@pytest.mark.parametrize(
    "sandboxes",
    [(sandbox(0, ready=False),), (sandbox(0, ip=""),), (sandbox(0), sandbox(1))],
    ids=["not ready", "no address", "two are ready"],
)
def test_a_lost_sandbox_is_replaced_and_the_pod_started_from_its_beginning(sandboxes: Any) -> None:
    pod = make_pod({"name": "app"}, init=[{"name": "setup"}])
    actions = compute_pod_actions(pod, Snapshot(sandboxes, (record(pod, "app"),)), ProbeState())
    assert (actions.kill_pod, actions.create_sandbox, actions.attempt) == (True, True, 1)
    assert starts(actions) == ["setup"]


def test_on_the_hosts_network_an_empty_address_is_no_reason_for_another_sandbox() -> None:
    pod = make_pod(hostNetwork=True)
    actions = compute_pod_actions(pod, Snapshot((sandbox(ip=""),), (record(pod, "app"),)), ProbeState())
    assert not actions.kill_pod


def test_a_pod_that_ran_once_gets_no_second_sandbox() -> None:
    never = make_pod(restartPolicy="Never")
    done = make_pod(restartPolicy="OnFailure")
    for pod, code in ((never, 1), (done, 0)):
        snapshot = Snapshot((sandbox(ready=False),), (record(pod, "app", State.EXITED, exit_code=code),))
        actions = compute_pod_actions(pod, snapshot, ProbeState())
        assert (actions.kill_pod, actions.create_sandbox, starts(actions)) == (True, False, [])


# Sidecars: the pod has three sidecars and three regular containers.


def sidecar_pod(*, probed: int, probe: str) -> Pod:
    init = [{**sidecar, f"{probe}Probe": PROBE} if n == probed else sidecar for n, sidecar in enumerate(SIDECARS)]
    return make_pod(*THREE, init=init)


@pytest.mark.parametrize("result", [None, "Unknown", "Success"])
def test_the_next_sidecar_does_not_wait_for_liveness(result: str | None) -> None:
    pod = sidecar_pod(probed=1, probe="liveness")
    results = {("liveness", "t://s1-0"): result} if result else {}
    actions = compute(pod, record(pod, "s0"), record(pod, "s1"), results=results)
    assert (starts(actions), killed(actions)) == (["s2"], [])


@pytest.mark.parametrize(("result", "expected"), [(None, []), ("Unknown", []), ("Success", ["s2"])])
def test_the_next_sidecar_waits_for_startup(result: str | None, expected: list[str]) -> None:
    pod = sidecar_pod(probed=1, probe="startup")
    results = {("startup", "t://s1-0"): result} if result else {}
    actions = compute(pod, record(pod, "s0"), record(pod, "s1"), results=results)
    assert (starts(actions), killed(actions)) == (expected, [])


def test_the_last_sidecars_failed_liveness_restarts_it_beside_the_main_containers() -> None:
    pod = sidecar_pod(probed=2, probe="liveness")
    running = [record(pod, f"s{n}") for n in range(3)]
    actions = compute(pod, *running, results={("liveness", "t://s2-0"): "Failure"})
    assert killed(actions) == ["Init container s2 failed liveness probe"]
    assert starts(actions) == ["s2", "c0", "c1", "c2"]


def test_the_last_sidecars_failed_startup_keeps_the_main_containers_waiting() -> None:
    pod = sidecar_pod(probed=2, probe="startup")
    running = [record(pod, f"s{n}") for n in range(3)]
    actions = compute(pod, *running, results={("startup", "t://s2-0"): "Failure"})
    assert killed(actions) == ["Init container s2 failed startup probe"]
    assert starts(actions) == ["s2"]


def test_init_containers_run_one_after_the_other() -> None:
    pod = make_pod(init=[{"name": "i0"}, {"name": "i1"}])
    done = {"state": State.EXITED, "exit_code": 0}
    assert starts(compute(pod)) == ["i0"]
    assert starts(compute(pod, record(pod, "i0"))) == []
    assert starts(compute(pod, record(pod, "i0", **done))) == ["i1"]
    assert starts(compute(pod, record(pod, "i1", **done))) == ["app"]


def test_a_failed_init_container_is_started_again_or_ends_the_pod() -> None:
    init = [{"name": "i0"}, {"name": "i1"}]
    for policy, again in (("Always", True), ("OnFailure", True), ("Never", False)):
        pod = make_pod(init=init, restartPolicy=policy)
        actions = compute(pod, record(pod, "i0", State.EXITED, exit_code=1))
        assert (starts(actions), actions.kill_pod) == (["i0"] if again else [], not again), policy


@pytest.mark.parametrize(
    ("policy", "own", "again"),
    [("Always", {}, True), ("OnFailure", {}, True), ("Never", {}, False), ("Never", SIDECAR, True)],
)
def test_an_init_container_in_unknown_state_is_killed_before_another_or_ends_the_pod(
    policy: str, own: dict[str, str], again: bool
) -> None:
    pod = make_pod(init=[{"name": "i0", **own}, {"name": "i1"}], restartPolicy=policy)
    actions = compute(pod, record(pod, "i0", State.UNKNOWN))
    assert (starts(actions), actions.kill_pod) == (["i0"] if again else [], not again)
    assert killed(actions) == ['Init container is in "unknown" state, try killing it before restart'] * again


def test_an_init_container_killed_for_its_memory_has_failed_whatever_its_exit_code() -> None:
    pod = make_pod(init=[{"name": "i0"}, {"name": "i1"}])
    assert starts(compute(pod, record(pod, "i0", State.EXITED, exit_code=0, reason="OOMKilled"))) == ["i0"]


def test_a_dead_sidecar_is_restarted_while_the_pod_runs_but_a_done_init_container_is_not() -> None:
    pod = make_pod(init=[{"name": "setup"}, SIDECARS[0]])
    actions = compute(
        pod, record(pod, "app"), record(pod, "s0", State.EXITED), record(pod, "setup", State.EXITED, exit_code=1)
    )
    assert starts(actions) == ["s0"]
