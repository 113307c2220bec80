"""Which liveness kills wait, by the rules of ``hold``."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from probelet.policy.incidents import Counts, Incident, Turn
from probelet.policy.incidents.hold import TRIAL_NS, KillHold, Verdict
from probelet.spec.annotation.hold_kills import HoldChoice

MOST = 300
SHARED = Incident("i1", "shared", 0, shared="target", value="db:5432")
PROBER = Incident("i2", "prober", 0, shared="node", value="n1")


def verdict(
    pod: str, *, instance: int = 0, choice: HoldChoice = "shared", restarts: bool = True, program: str = ""
) -> Verdict:
    return Verdict(pod, "app", f"t://{pod}-{instance}", choice, restarts, program)


def answer(hold: KillHold, pod: str, *, probe_type: str = "liveness", is_good: bool = True) -> None:
    hold.attempt(Turn(pod, "app", probe_type, 0, is_good, "ok" if is_good else "refused", 0.0, 0.0, ""))


def waits(hold: KillHold, now: int, pod: str, incident: Incident | None = SHARED, *, instance: int = 0) -> bool:
    return hold.judge(now, verdict(pod, instance=instance), incident) is not None


def test_a_failure_without_an_incident_kills() -> None:
    hold = KillHold(MOST)
    assert not waits(hold, 0, "a", None)
    assert (hold.count, hold.ended) == (0, {})


@pytest.mark.parametrize(
    ("choice", "incident", "holds"),
    [("off", SHARED, False), ("off", PROBER, False), ("prober", SHARED, False), ("prober", PROBER, True),
     ("shared", SHARED, True), ("shared", PROBER, True), ("shared", replace(SHARED, kind="node"), False),
     ("shared", replace(SHARED, kind="workload"), False), ("shared", replace(SHARED, kind="container"), False)],
)  # fmt: skip
def test_a_choice_names_kinds_of_incidents(choice: HoldChoice, incident: Incident, holds: bool) -> None:
    hold = KillHold(MOST)
    hold.judge(0, verdict("trial", choice=choice), incident)
    assert (hold.judge(1, verdict("a", choice=choice), incident) is not None) == holds


def test_one_restart_is_the_trial_and_the_others_wait_until_it_answers() -> None:
    hold = KillHold(MOST)
    assert not waits(hold, 0, "trial")
    assert [waits(hold, 1, pod) for pod in "abcdefg"] == [True] * 7
    answer(hold, "trial", probe_type="readiness")
    answer(hold, "trial", is_good=False)
    assert waits(hold, 20, "a")
    answer(hold, "trial")
    assert not waits(hold, 30, "a")
    assert waits(hold, 31, "b"), "as many as have answered are under way"
    answer(hold, "a")
    assert [waits(hold, 40, pod) for pod in "bcd"] == [False, False, True]
    answer(hold, "b")
    answer(hold, "c")
    assert [waits(hold, 50, pod) for pod in "defg"] == [False] * 4


def test_a_restarted_container_that_fails_again_takes_its_answer_back_and_waits() -> None:
    hold = KillHold(MOST)
    assert not waits(hold, 0, "trial")
    answer(hold, "trial")
    assert waits(hold, 30, "trial", instance=1)
    assert waits(hold, 31, "a")


def of_program(hold: KillHold, now: int, pod: str, *, pods: int = 8, instance: int = 0) -> bool:
    """Whether the kill of a pod waits, whose program is its name's first letter."""
    incident = replace(SHARED, counts=Counts(pods=pods))
    return hold.judge(now, verdict(pod, program=pod[0], instance=instance), incident) is not None


@pytest.mark.parametrize(("pods", "trials"), [(1, 1), (2, 1), (4, 1), (5, 2), (8, 2), (9, 3), (16, 4), (100, 6)])
def test_each_program_has_a_trial_up_to_a_quarter_of_the_pods(pods: int, trials: int) -> None:
    hold = KillHold(MOST)
    assert [of_program(hold, now, f"{name}1", pods=pods) for now, name in enumerate("abcdef")] == [False] * trials + [
        True
    ] * (6 - trials)
    assert of_program(hold, 7, "a2", pods=pods), "one of a program is enough"


def test_once_a_trial_has_answered_each_program_goes_on_at_its_own_pace() -> None:
    hold = KillHold(MOST)
    assert [of_program(hold, 0, pod) for pod in ("slow1", "fast1", "other1")] == [False, False, True]
    answer(hold, "fast1")
    # The slow program has not answered yet, and holds up no other one.
    assert [of_program(hold, 10, pod) for pod in ("fast2", "fast3", "slow2", "other1", "other2")] == [
        False, True, True, False, True,
    ]  # fmt: skip
    answer(hold, "fast2")
    assert [of_program(hold, 20, pod) for pod in ("fast3", "fast4", "fast5")] == [False, False, True]


def test_a_program_whose_restart_did_not_mend_has_no_pace_of_its_own() -> None:
    hold = KillHold(10 * TRIAL_NS)
    assert [of_program(hold, 0, pod) for pod in ("a1", "b1")] == [False, False]
    answer(hold, "a1")
    assert not of_program(hold, 10, "a2")
    assert of_program(hold, 11, "b1", instance=1), "as many have answered as are under way, and its own has failed"
    assert of_program(hold, 12, "b2")
    assert not of_program(hold, TRIAL_NS, "b2"), "it is the next trial"


def test_a_trial_that_does_not_answer_is_followed_by_others_ever_later() -> None:
    hold = KillHold(1_000 * TRIAL_NS)
    gone_on = []
    for half in range(40):
        pod = f"pod-{half}"
        if not waits(hold, half * TRIAL_NS // 2, pod):
            gone_on.append(half / 2)
    assert gone_on == [0, 1, 3, 7, 15]


def test_a_prober_has_no_trial() -> None:
    hold = KillHold(MOST)
    assert waits(hold, 0, "a", PROBER)
    assert waits(hold, 1, "b", PROBER)


def test_a_kill_for_good_is_no_trial() -> None:
    hold = KillHold(MOST)
    assert hold.judge(0, verdict("job", restarts=False), SHARED) is not None
    assert not waits(hold, 1, "a")


def test_a_success_forgets_the_kill_and_an_end_of_the_incident_lets_it_go_on() -> None:
    hold = KillHold(MOST)
    for pod in ("trial", "a", "b", "c"):
        waits(hold, 0, pod)
    answer(hold, "a")
    assert (hold.held("a", "app"), hold.count, hold.ended) == (None, 2, {"recovered": 1})
    hold.over("i1")
    assert not waits(hold, 20, "b", None)
    assert not waits(hold, 21, "c", replace(SHARED, kind="node"))
    assert (hold.count, hold.ended) == (0, {"recovered": 1, "killed": 2})


def test_no_kill_waits_longer_than_the_bound() -> None:
    hold = KillHold(MOST)
    waits(hold, 0, "trial")
    assert waits(hold, 10, "a")
    assert waits(hold, 309, "a")
    assert not waits(hold, 310, "a")
    assert not waits(hold, 311, "a"), "a kill that goes on is never called back"


def test_a_clock_that_goes_back_kills() -> None:
    hold = KillHold(MOST)
    waits(hold, 1_000, "trial")
    assert waits(hold, 1_000, "a")
    assert not waits(hold, 999, "a")


def test_another_instance_has_a_wait_of_its_own() -> None:
    hold = KillHold(MOST)
    waits(hold, 0, "trial")
    waits(hold, 10, "a")
    held = hold.judge(200, verdict("a", instance=1), SHARED)
    assert held is not None
    assert (held.since_ns, held.until_ns) == (200, 500)
    assert hold.ended == {"gone": 1}


def test_nothing_is_kept_of_a_pod_that_is_gone() -> None:
    hold = KillHold(MOST)
    waits(hold, 0, "trial")
    waits(hold, 0, "a")
    hold.gone("a")
    hold.gone("nobody")
    assert (hold.count, hold.of_pod("a"), hold.ended) == (0, [], {"gone": 1})


def test_the_event_says_how_long_and_why() -> None:
    hold = KillHold(300_000_000_000)
    waits(hold, 0, "trial")
    held = hold.judge(0, verdict("a"), SHARED)
    assert held is not None
    assert held.message == (
        "Container app failed liveness probe, its kill waits for at most 5m0s, because a restart would not mend "
        "incident i1 (shared target db:5432)"
    )


STEPS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(["fails", "answers", "over", "gone"]), st.integers(0, 120)),
    max_size=60,
)


@given(STEPS)
def test_whatever_happens_no_kill_waits_too_long_and_none_is_called_back(steps: list[tuple[str, str, int]]) -> None:
    hold, now, incident = KillHold(MOST), 0, SHARED
    instances = dict.fromkeys("abcd", 0)
    since: dict[str, int] = {}
    for pod, what, passed in steps:
        now += passed
        match what:
            case "fails":
                if waits(hold, now, pod, incident, instance=instances[pod]):
                    assert now < since.setdefault(pod, now) + MOST
                else:
                    assert not waits(hold, now, pod, incident, instance=instances[pod])
                    since.pop(pod, None)
                    instances[pod] += 1
            case "answers":
                answer(hold, pod)
                since.pop(pod, None)
            case "over":
                hold.over(incident.id)
                incident = replace(incident, id=incident.id + "'")
            case "gone":
                hold.gone(pod)
                since.pop(pod, None)
                instances[pod] += 1
        assert {each for each in "abcd" if hold.of_pod(each)} == set(since)
        assert hold.count == len(since)
