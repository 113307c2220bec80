"""What holds whatever a detector is given."""

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from probelet.policy.incidents import (
    Began,
    Ended,
    Exited,
    Grew,
    Incident,
    IncidentDetector,
    Input,
    Killed,
    Output,
    Passed,
    ProbeGone,
    ProbeKey,
    ProbeKnown,
    Reclassified,
    RolledOut,
    Subject,
    Turn,
)

APPS, PODS = 4, 3
CAUSES = ("ok", "ok", "header_timeout", "status", "refused", "starved", "exec_exit", "a new word")
PROBES = ("readiness", "liveness", "startup")


def subject(app: int, pod: int, probe: str) -> Subject:
    asks = ("db",) if app != 1 and probe == "readiness" else ()
    name = f"{app}-{pod}"
    return Subject(name, "default", name, "main", probe, f"n{pod % 2}", f"Deployment/{app}", "", asks)


ids = st.tuples(st.integers(0, APPS - 1), st.integers(0, PODS - 1), st.sampled_from(PROBES))
late = st.sampled_from((0.0, 900.0))


def inputs() -> st.SearchStrategy[Input]:
    keys = ids.map(lambda each: subject(*each))
    return st.one_of(
        st.builds(
            lambda each, cause, lateness: Turn(
                each.pod_uid, "main", each.probe_type, 0, cause == "ok", cause, lateness, 0.0, ""
            ),
            keys,
            st.sampled_from(CAUSES),
            late,
        ),
        keys.map(ProbeKnown),
        keys.map(lambda each: ProbeGone(ProbeKey(each.pod_uid, "main", each.probe_type))),
        keys.map(lambda each: Killed(each.pod_uid, "main", 0)),
        keys.map(lambda each: Exited(each.pod_uid, "main", 0)),
        st.integers(0, APPS - 1).map(lambda app: RolledOut("default", f"Deployment/{app}", "x:2")),
        st.just(Passed()),
    )


steps = st.lists(
    st.tuples(st.one_of(st.integers(0, 20_000), st.sampled_from((-(10**9), 10**9))), inputs()), max_size=120
)


def known() -> IncidentDetector:
    detector = IncidentDetector()
    for app in range(APPS):
        for pod in range(PODS):
            for probe in PROBES:
                each = subject(app, pod, probe)
                detector.handle(0, ProbeKnown(each))
                detector.handle(0, Turn(each.pod_uid, "main", probe, 0, True, "ok", 0.0, 0.0, ""))
    return detector


def play(found: list[tuple[int, Input]]) -> tuple[IncidentDetector, list[Output]]:
    detector, now, said = known(), 1_000_000, []
    for wait, given_input in found:
        now = max(0, now + wait)
        given_now = replace(given_input, at_ms=now) if isinstance(given_input, Turn) else given_input
        said += detector.handle(now, given_now)
    return detector, said


@settings(max_examples=150, deadline=None)
@given(steps)
def test_outputs_make_sense_in_their_order(found: list[tuple[int, Input]]) -> None:
    detector, said = play(found)
    opened: dict[str, Incident] = {}
    for output in said:
        incident = output.incident
        match output:
            case Began():
                assert incident.id not in opened
                opened[incident.id] = incident
            case Grew() | Reclassified():
                assert incident.id in opened
                opened[incident.id] = incident
            case Ended():
                assert incident.ended_ms is not None
                del opened[incident.id]
        assert (incident.ended_ms is not None) == isinstance(output, Ended)
        assert 0 <= incident.killed_for_nothing <= incident.killed
        assert 1 <= incident.counts.pods <= APPS * PODS * 10
        assert incident.evidence
        assert len(incident.evidence) < 2_000
        assert len(incident.affected) <= 5
    assert {each.id for each in detector.open} == set(opened)


@settings(max_examples=50, deadline=None)
@given(steps)
def test_the_same_inputs_give_the_same_outputs(found: list[tuple[int, Input]]) -> None:
    assert play(found)[1] == play(found)[1]


@settings(max_examples=100, deadline=None)
@given(steps)
def test_when_all_is_well_every_incident_ends(found: list[tuple[int, Input]]) -> None:
    detector, _ = play(found)
    now = 10**10
    for app in range(APPS):
        for pod in range(PODS):
            for probe in PROBES:
                each = subject(app, pod, probe)
                detector.handle(now, Turn(each.pod_uid, "main", probe, now, True, "ok", 0.0, 0.0, ""))
    for _ in range(100):
        due = detector.next_deadline_ms
        if due is None:
            break
        assert due >= now - 1
        now = max(now, due)
        detector.handle(now, Passed())
    assert detector.next_deadline_ms is None
    assert detector.open == []
