"""What the mapping writes for a pod is what the pod's annotation asks for, in the agent's eyes; nothing else is."""

import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from probelet.beside.guard.mapping.entry import entry_of
from probelet.beside.guard.objects.pod import read_pod
from probelet.beside.probes.asked import asked_of, unasked
from probelet.beside.probes.wanted import read_wanted
from probelet.spec.model.pod_object import read_pod_object

from tests.unit.beside.guard.kubernetes_objects import pod_object

Json = dict[str, Any]
IP: Final = "1.1.1.1"

ports = st.integers(1, 65535) | st.just("web")
hosts = st.sampled_from(["", IP])
texts = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_characters="\x7f"), min_size=1, max_size=8
)
headers = st.lists(st.builds(lambda value: {"name": "X-A", "value": value}, texts), max_size=3)


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    """Any of the fields, as people leave most of them out."""
    return st.fixed_dictionaries({}, optional=fields)


handlers: st.SearchStrategy[Json] = st.one_of(
    st.builds(lambda command: {"exec": {"command": command}}, st.lists(texts, min_size=1, max_size=4)),
    st.builds(
        lambda port, more: {"httpGet": {"port": port, **more}},
        ports,
        some(
            path=st.sampled_from(["/", "/live?a=<b>&c", "/\u00e4"]),
            host=hosts,
            scheme=st.sampled_from(["HTTP", "HTTPS"]),
            httpHeaders=headers,
        ),
    ),
    st.builds(lambda port, more: {"tcpSocket": {"port": port, **more}}, ports, some(host=hosts)),
    st.builds(
        lambda port, more: {"grpc": {"port": port, **more}},
        st.integers(1, 65535),
        some(service=st.sampled_from(["", "a.b.C"])),
    ),
)
timings = some(
    periodSeconds=st.integers(1, 100),
    timeoutSeconds=st.integers(1, 9),
    failureThreshold=st.integers(1, 9),
    initialDelaySeconds=st.integers(0, 9),
    terminationGracePeriodSeconds=st.integers(1, 99),
)


def asking(*probes: tuple[str, Json]) -> Json:
    """A pod whose annotation has these probes, by container."""
    return pod_object(context=json.dumps([{"name": name, "livenessProbe": probe} for name, probe in probes]), ip=IP)


def mapped(pod: Json) -> list[Any]:
    """What an agent reads of the entry that the mapping writes, as JSON over the API server."""
    guarded = read_pod(pod)
    assert guarded is not None
    entry = entry_of(guarded, "seed", None)
    assert entry.problems == []
    body = json.loads(json.dumps({"spec": {"podProbes": [entry.body]}}))
    return list(read_wanted(body).values())


@given(handlers, handlers, timings)
def test_the_mapping_asks_for_nothing_else(first: Json, second: Json, times: Json) -> None:
    pod = asking(("c1", {**first, **times}), ("c2", second))
    found = mapped(pod)
    asked = asked_of(read_pod_object(pod))
    assert [(each.container, each.problem, unasked(each, asked)) for each in found] == [("c1", "", ""), ("c2", "", "")]


@given(handlers, handlers, timings)
def test_another_handler_is_asked_for_only_if_it_is_the_same(first: Json, second: Json, times: Json) -> None:
    (wanted,) = mapped(asking(("c1", {**first, **times})))
    (other,) = mapped(asking(("c1", second)))
    is_same = wanted.probe.exec == other.probe.exec and (wanted.host, wanted.probe.http_get) == (
        other.host,
        other.probe.http_get,
    )
    is_same = is_same and (wanted.probe.tcp_socket, wanted.probe.grpc) == (other.probe.tcp_socket, other.probe.grpc)
    assert (unasked(wanted, asked_of(read_pod_object(asking(("c1", second))))) == "") is is_same
    assert unasked(wanted, asked_of(read_pod_object(asking(("c2", first)))))


@pytest.mark.parametrize(
    "context", [None, "", "[", "{}", "[null]", '[{"name":"c1"}]', '[{"name":"c1","livenessProbe":7}]']
)
def test_an_annotation_without_the_handler_asks_for_nothing(context: str | None) -> None:
    (wanted,) = mapped(asking(("c1", {"exec": {"command": ["a"]}})))
    said = "its command does not stand in the pod's annotation apps.kruise.io/container-probe-context"
    assert unasked(wanted, asked_of(read_pod_object(pod_object(context=context)))) == said


def test_a_name_of_a_port_that_the_container_lacks_is_no_number() -> None:
    pod = asking(("c1", {"tcpSocket": {"port": "other"}}))
    (wanted,) = mapped(asking(("c1", {"tcpSocket": {"port": 8080}})))
    assert unasked(wanted, asked_of(read_pod_object(pod)))
