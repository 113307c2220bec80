"""The policy and the public start decision give one answer: does a start follow this exit, and when?"""

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from probelet._rust import Backoff, RestartSpec
from probelet.policy.facts.snapshot import Snapshot, State
from probelet.policy.protocol.inputs import Observed
from probelet.policy.rules.restart import back_off_key, restart_spec, should_start
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod

from tests.unit.policy.rig import SECOND, Rig, gate, make_pod, record, sandbox

POLICIES = st.sampled_from(["Always", "OnFailure", "Never"])
CODES = st.integers(min_value=0, max_value=4)
RULES = st.lists(
    st.fixed_dictionaries(
        {
            "action": st.sampled_from(["Restart", "RestartAllContainers"]),
            "exitCodes": st.fixed_dictionaries(
                {"operator": st.sampled_from(["In", "NotIn"]), "values": st.lists(CODES, max_size=3)}
            ),
        }
    ),
    max_size=2,
)


@given(pod_policy=POLICIES, own=st.none() | POLICIES, rules=RULES, code=CODES)
def test_an_exit_is_followed_by_a_start_exactly_when_the_public_decision_says_so(
    pod_policy: Any, own: Any, rules: Any, code: int
) -> None:
    container = {"name": "app", "restartPolicyRules": rules} | ({"restartPolicy": own} if own else {})
    pod = make_pod(container, restartPolicy=pod_policy)
    spec = restart_spec(pod, pod.spec.containers[0])
    decision = Backoff().decide(
        "key",
        now_ns=1,
        finished_ns=1,
        exit_code=code,
        restart_policy=spec.policy,
        # Rules count only together with the container's own policy, which the public decision leaves to its caller.
        rules=msgspec.json.encode(rules if own else []),
    )
    assert spec.after_exit(code) == (decision.word != "never")


@given(
    ran=st.lists(st.integers(min_value=0, max_value=700), min_size=1, max_size=12),
    own=st.none() | st.sampled_from([(1 * SECOND, 60 * SECOND)]),
)
def test_the_back_off_of_the_gate_is_the_second_half_of_the_public_decision(ran: Any, own: Any) -> None:
    whole, half, now = Backoff(), Backoff(), 0
    for seconds in ran:
        finished = now = now + seconds * SECOND
        for _ in range(2):
            decided = whole.decide(
                "key", now_ns=now, finished_ns=finished, exit_code=1, restart_policy="Always", own=own
            )
            assert half.back_off("key", now_ns=now, finished_ns=finished, own=own) == decided
            if decided.word == "start":
                break
            now = decided.due_ns


@pytest.mark.parametrize("rule", [{}, {"exitCodes": {"operator": "Odd", "values": [1]}}])
def test_a_rule_that_names_no_exit_codes_matches_nothing(rule: Any) -> None:
    container = {"name": "app", "restartPolicy": "Never", "restartPolicyRules": [{"action": "Restart", **rule}]}
    pod = make_pod(container)
    assert restart_spec(pod, pod.spec.containers[0]).after_exit(1) is False


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("Sometimes",), 'restart_policy: "Sometimes": must be one of Always, OnFailure, Never'),
        (("Never", "Never", [("Stop", "In", [1])]), 'action: "Stop": must be one of Restart, RestartAllContainers'),
        (("Never", "Never", [("Restart", "Is", [1])]), 'operator: "Is": must be one of In, NotIn'),
    ],
)
def test_a_value_that_the_api_does_not_have_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        RestartSpec(*arguments)


def _ended(pod: Pod, container: Container, finished: int) -> Any:
    return record(pod, container.name, State.EXITED, exit_code=1, finished_ns=finished * SECOND)


def test_a_container_whose_policy_forbids_restarts_waits_like_any_other_when_a_sync_starts_it() -> None:
    """A new sandbox starts every container of the pod anew: the kubelet's doBackOff ignores the restart policy."""
    pod = make_pod({"name": "once", "restartPolicy": "Never"}, {"name": "app"})
    once, start_gate = pod.spec.containers[0], gate()
    assert start_gate.decide(pod, once, _ended(pod, once, 1), 1 * SECOND).word == "start"
    verdict = start_gate.decide(pod, once, _ended(pod, once, 2), 2 * SECOND)
    assert (verdict.word, verdict.due_ns) == ("backoff", 12 * SECOND)


def test_a_new_sandbox_starts_a_container_that_never_restarts_by_itself() -> None:
    rig = Rig(make_pod({"name": "once", "restartPolicy": "Never"}, {"name": "app"}), dies_after={"once": 1})
    rig.begin()
    rig.run_until(60)
    assert [name for _, name, _ in rig.starts] == ["once", "app"]
    rig.snapshot = replace(rig.snapshot, sandboxes=(sandbox(ready=False),))
    rig.handle(Observed(rig.snapshot))
    rig.run_until(120)
    assert [name for _, name, _ in rig.starts] == ["once", "app", "once", "app"]


def test_a_new_image_a_new_pod_and_another_container_begin_with_a_clean_slate() -> None:
    pod = make_pod({"name": "a"}, {"name": "b"})
    newer = make_pod({"name": "a", "image": "i:2"})
    keys = {back_off_key(pod, container) for container in pod.spec.containers}
    assert keys == {"web/default/u1/a/i", "web/default/u1/b/i"}
    assert back_off_key(newer, newer.spec.containers[0]) not in keys


@pytest.mark.parametrize(
    ("state", "starts"),
    [
        (None, True),
        (State.CREATED, True),
        (State.RUNNING, False),
        (State.ENDED, False),
        (State.UNKNOWN, True),
        (State.EXITED, False),
    ],
)
def test_under_never_a_container_starts_unless_it_runs_or_has_ended(state: State | None, starts: bool) -> None:
    pod = make_pod(restartPolicy="Never")
    records = () if state is None else (record(pod, "app", state),)
    assert should_start(pod, pod.spec.containers[0], Snapshot((sandbox(),), records)) == starts
