"""Random pods, and random containers that another webhook adds: the order of the calls makes no difference, and no
probe is lost or run twice.
"""

import copy
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from probelet.beside.takeover import (
    ENHANCED_LIVENESS,
    FALLBACK_ANNOTATION,
    KEEP_NATIVE_ANNOTATION,
    PROBES_ANNOTATION,
    read,
)
from probelet.spec import decode_pod

from tests.unit.beside.takeover.pods import (
    LIVENESS,
    READINESS,
    STARTUP,
    Json,
    called,
    container,
    has_gate,
    made,
    moved,
    native,
    pod,
)

PROBES = st.sampled_from(
    [
        LIVENESS,
        READINESS,
        STARTUP,
        {"tcpSocket": {"port": 80, "host": "10.0.0.1"}},
        {**LIVENESS, "futureField": [1]},
        {"tcpSocket": {"port": 80}, "periodSeconds": -1},
        {},
    ]
)
# Most probes are good ones, or a pod would rarely get as far as a takeover.
GOOD = st.sampled_from([LIVENESS, STARTUP])
KINDS = ("livenessProbe", "readinessProbe", "startupProbe")


@st.composite
def containers(draw: st.DrawFn, names: str, *, sidecars: bool = False) -> list[Json]:
    made = []
    for name in names[: draw(st.integers(0, len(names)))]:
        fields: Json = {
            kind: draw(PROBES if draw(st.integers(0, 7)) == 0 else GOOD) for kind in KINDS if draw(st.booleans())
        }
        policy = "Always" if sidecars else draw(st.sampled_from([None, None, None, "Always", "OnFailure"]))
        if policy is not None:
            fields["restartPolicy"] = policy
        made.append(container(name, **fields))
    return made


@st.composite
def pods(draw: st.DrawFn) -> Json:
    spec: Json = {"restartPolicy": draw(st.sampled_from(["Always", "Always", "Always", "Never"]))}
    gates = draw(st.sampled_from([None, [], [{"conditionType": "other"}]]))
    if gates is not None:
        spec["readinessGates"] = gates
    asked = [{ENHANCED_LIVENESS: "true"}, {FALLBACK_ANNOTATION: "10m"}, {KEEP_NATIVE_ANNOTATION: "readiness"}]
    given_annotations = draw(st.sampled_from([None, {}, {"a": "b"}, *asked]))
    regular = [*draw(containers("abc")), container("last")]
    return pod(*regular, init=tuple(draw(containers("xy", sidecars=True))), annotations=given_annotations, **spec)


def injected(value: Json, regular: list[Json], sidecars: list[Json]) -> Json:
    """The pod with a container in front and one behind, as injectors add them."""
    after = copy.deepcopy(value)
    after["spec"]["containers"] = [*regular[:1], *after["spec"]["containers"], *regular[1:]]
    after["spec"]["initContainers"] = [*after["spec"].get("initContainers", ()), *sidecars]
    return after


def plain(value: Json) -> Any:
    """The pod as the API server stores it, without empty lists and maps."""
    after = copy.deepcopy(value)
    for holder, key in ((after["metadata"], "annotations"), (after["spec"], "readinessGates")):
        if not holder.get(key):
            holder.pop(key, None)
    return after


@given(pods(), containers("mn"), containers("v", sidecars=True))
def test_the_order_of_the_webhooks_makes_no_difference(value: Json, regular: list[Json], sidecars: list[Json]) -> None:
    at_once, _ = called(injected(value, regular, sidecars))
    afterwards, _ = called(injected(called(value)[0], regular, sidecars))
    assert plain(afterwards) == plain(at_once)


@given(pods())
def test_no_probe_is_lost_or_run_twice(value: Json) -> None:
    after, answer = called(value)
    ours = {f"{name}/{field.removesuffix('Probe')}" for name, probes in moved(after).items() for field in probes}
    assert ours | set(native(after)) == set(native(value))
    assert not ours & set(native(after))
    assert not any(name.endswith("/startup") for name in ours)
    assert has_gate(after) == any(name.endswith("/readiness") for name in ours)
    assert (answer.result in ("taken-over", "partly")) == bool(ours)


@given(pods())
def test_the_agent_runs_what_moved(value: Json) -> None:
    after, _ = called(value)
    text = (after["metadata"].get("annotations") or {}).get(PROBES_ANNOTATION, "{}")
    after["metadata"]["namespace"] = "default"
    found = read(text, decode_pod(msgspec.json.encode(after)), own_namespace="probelet-system")
    assert found.problems == ()
    ran = {name: {f"{kind}Probe" for kind in probes} for name, probes in found.probes.items()}
    assert ran == {name: set(probes) for name, probes in moved(after).items()}


@given(pods())
def test_what_the_kubelet_gets_instead_holds_nothing_up(value: Json) -> None:
    after, _ = called(value)
    sidecars = {one["name"] for one in after["spec"].get("initContainers", ())}
    for one in (*after["spec"].get("initContainers", ()), *after["spec"]["containers"]):
        ours, theirs = moved(after).get(one["name"], {}), made(after).get(one["name"], [])
        assert "startupProbe" not in theirs or (one["name"] not in sidecars and "readinessProbe" in ours)
        assert "startupProbe" not in theirs or f"{one['name']}/liveness" not in native(after)
        assert "livenessProbe" not in theirs or "livenessProbe" in ours
        assert all(field in one for field in theirs)
