"""Policy and core answer the same question the same way: is this exit followed by a start?"""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from probelet._rust import Backoff
from probelet.policy.rules.restart import back_off_key, effective_policy, restarts_after_exit

from tests.unit.policy.rig import make_pod

POLICIES = st.sampled_from(["Always", "OnFailure", "Never"])
CODES = st.integers(min_value=0, max_value=4)
RULES = st.lists(
    st.fixed_dictionaries(
        {
            "action": st.just("Restart"),
            "exitCodes": st.fixed_dictionaries(
                {"operator": st.sampled_from(["In", "NotIn"]), "values": st.lists(CODES, max_size=3)}
            ),
        }
    ),
    max_size=2,
)


@given(pod_policy=POLICIES, own=st.none() | POLICIES, rules=RULES, code=CODES)
def test_an_exit_is_followed_by_a_start_exactly_when_the_core_says_so(
    pod_policy: Any, own: Any, rules: Any, code: int
) -> None:
    container = {"name": "app", "restartPolicyRules": rules} | ({"restartPolicy": own} if own else {})
    pod = make_pod(container, restartPolicy=pod_policy)
    made = pod.spec.containers[0]
    verdict, *_ = Backoff().decide(
        "key",
        now_ns=1,
        finished_ns=1,
        exit_code=code,
        restart_policy=effective_policy(pod, made),
        # Rules are looked at only together with the container's own policy; the core leaves that to its caller.
        rules=msgspec.json.encode(rules if own else []),
    )
    assert restarts_after_exit(pod, made, code) == (verdict != "never")


def test_a_new_image_a_new_pod_and_another_container_begin_with_a_clean_slate() -> None:
    pod = make_pod({"name": "a"}, {"name": "b"})
    newer = make_pod({"name": "a", "image": "i:2"})
    keys = {back_off_key(pod, container) for container in pod.spec.containers}
    assert keys == {"web/default/u1/a/i", "web/default/u1/b/i"}
    assert back_off_key(newer, newer.spec.containers[0]) not in keys
