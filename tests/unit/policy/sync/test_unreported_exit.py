"""A container that the runtime lists as exited without saying how: nothing kills it, replaces it or ends its pod."""

from typing import Any

import pytest
from probelet.policy.facts.probe_state import ProbeState
from probelet.policy.facts.snapshot import SandboxRecord, Snapshot, State
from probelet.policy.protocol.inputs import Terminate
from probelet.policy.sync.compute import compute_pod_actions
from probelet.policy.sync.plan import PodActions

from tests.unit.policy.rig import Rig, make_pod, record, sandbox

FAILURES: Any = {("liveness", "t://app-0"): "Failure", ("startup", "t://app-0"): "Failure"}
POLICIES = ["Always", "OnFailure", "Never"]


def compute(policy: str, box: SandboxRecord, state: State, **spec: Any) -> PodActions:
    pod = make_pod(restartPolicy=policy, **spec)
    return compute_pod_actions(pod, Snapshot((box,), (record(pod, "app", state),)), ProbeState(FAILURES))


@pytest.mark.parametrize("policy", POLICIES)
def test_it_is_left_alone_whatever_its_probes_say(policy: str) -> None:
    actions = compute(policy, sandbox(), State.ENDED)
    assert (actions.kill, actions.start, actions.kill_pod) == ([], [], False)
    # The same container, had the runtime listed it as running.
    assert compute(policy, sandbox(), State.RUNNING).kill


@pytest.mark.parametrize("policy", POLICIES)
def test_in_a_sandbox_that_has_ended_its_pod_gets_no_other(policy: str) -> None:
    actions = compute(policy, sandbox(ready=False), State.ENDED)
    assert (actions.create_sandbox, actions.start) == (False, [])
    again = compute(policy, sandbox(ready=False), State.EXITED)
    assert again.create_sandbox == (policy == "Always"), "its exit code 0 decides once it is known"


@pytest.mark.parametrize("kind", [{}, {"restartPolicy": "Always"}], ids=["init container", "sidecar"])
def test_nothing_follows_an_init_container_of_unknown_exit(kind: dict[str, str]) -> None:
    pod = make_pod(init=[{"name": "first", **kind}, {"name": "second"}])
    known = Snapshot((sandbox(),), (record(pod, "first", State.ENDED),))
    actions = compute_pod_actions(pod, known, ProbeState({}))
    assert (actions.start_init, actions.start, actions.kill, actions.kill_pod) == ([], [], [], False)


def test_the_other_containers_of_its_pod_are_supervised() -> None:
    pod = make_pod({"name": "app"}, {"name": "done"}, restartPolicy="OnFailure")
    known = Snapshot((sandbox(),), (record(pod, "app"), record(pod, "done", State.ENDED)))
    actions = compute_pod_actions(pod, known, ProbeState(FAILURES))
    assert [victim.record.name for victim in actions.kill] == ["app"]
    assert [container.name for container in actions.start] == ["app"]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_pod_that_is_removed_does_not_kill_it(policy: str) -> None:
    pod = make_pod(restartPolicy=policy)
    rig = Rig(pod)
    rig.snapshot = Snapshot((sandbox(ready=False),), (record(pod, "app", State.ENDED),))
    rig.begin()
    rig.handle(Terminate())
    rig.settle()
    assert (rig.kills, rig.starts, rig.events, rig.gone) == ([], [], [], True)
