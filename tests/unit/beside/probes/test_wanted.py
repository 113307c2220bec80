"""What a NodePodProbe asks for, and what the engine gets of it."""

import json
from typing import Any

import pytest
from probelet.agent.enhanced.probes import EXECS_MAX, exec_limits
from probelet.beside.probes.engine_pod import engine_id, engine_pod, engine_status, runtime_id
from probelet.beside.probes.wanted import Wanted, read_wanted, refused_host
from probelet.policy.facts.snapshot import ContainerRecord, State
from probelet.runtime.execs.limits import ExecLimits


def wanted(**probe: Any) -> Wanted:
    """The only probe of an object."""
    found = {"name": "web-app", "containerName": "app", "probe": probe}
    entry = {"name": "web", "namespace": "default", "uid": "u", "IP": "10.0.0.1", "probes": [found]}
    (only,) = read_wanted({"spec": {"podProbes": [entry]}}).values()
    return only


def test_t9_unset_fields_have_the_apis_defaults() -> None:
    probe = wanted(tcpSocket={"port": 80}).probe
    assert (probe.period_seconds, probe.timeout_seconds, probe.failure_threshold) == (10, 1, 3)


def test_a_pod_probe_markers_success_threshold_is_taken() -> None:
    found = wanted(exec={"command": ["a"]}, successThreshold=2)
    assert (found.problem, found.probe.success_threshold) == ("", 2)


@pytest.mark.parametrize(
    ("probe", "problem"),
    [
        ({}, "spec.podProbes[0].probes[0].probe: Required value: must specify a handler type"),
        ({"httpGet": {"port": "http"}}, "spec.podProbes[0].probes[0].probe: port 'http' is a name"),
        ({"tcpSocket": {"port": 65536}}, "must be between 1 and 65535"),
        ({"exec": {}}, "exec.command: Required value"),
        ({"exec": {"command": ["a"]}, "periodSeconds": -1}, "must be greater than or equal to 0"),
        ({"exec": {"command": ["a"]}, "periodSeconds": "1"}, "Expected `int"),
        ({"exec": {"command": ["a"]}, "tcpSocket": {"port": 1}}, "may not specify more than 1 handler type"),
    ],
)
def test_d1_a_mistake_costs_the_probe_that_has_it_and_names_its_field(probe: dict[str, Any], problem: str) -> None:
    found = wanted(**probe)
    assert problem in found.problem
    assert "\n" not in found.problem


def test_two_probes_of_one_name_are_one() -> None:
    probes = [{"name": "p", "containerName": name, "probe": {"exec": {"command": ["a"]}}} for name in ("a", "b")]
    found = read_wanted({"spec": {"podProbes": [{"uid": "u", "probes": probes}]}})
    assert [each.container for each in found.values()] == ["a"]


@pytest.mark.parametrize(
    ("host", "on_host", "is_refused"),
    [
        ("", False, False),
        ("10.0.0.1", False, False),
        ("169.254.169.254", False, True),
        ("127.0.0.1", False, True),
        ("localhost", True, True),
        ("127.0.0.1", True, False),
        ("10.0.0.2", True, True),
    ],
)
def test_s2_only_the_pods_own_address_is_dialled(host: str, on_host: bool, is_refused: bool) -> None:
    found = wanted(httpGet={"port": 80, "host": host})
    assert bool(refused_host(found, "10.0.0.1", on_host_network=on_host)) == is_refused
    assert found.probe.http_get is not None
    assert found.probe.http_get.host == "", "the engine never sees a host"


def test_s2_a_host_header_stays() -> None:
    headers = [{"name": "Host", "value": "example.org"}]
    found = wanted(httpGet={"port": 80, "httpHeaders": headers})
    assert found.probe.http_get is not None
    assert found.probe.http_get.http_headers[0].value == "example.org"


def test_d10_what_counts_as_the_same_question() -> None:
    before = wanted(exec={"command": ["a"]}, periodSeconds=1)
    assert wanted(exec={"command": ["a"]}, periodSeconds=5, initialDelaySeconds=3, timeoutSeconds=2).counts_as(before)
    assert not wanted(exec={"command": ["b"]}, periodSeconds=1).counts_as(before)
    assert not wanted(exec={"command": ["a"]}, failureThreshold=7).counts_as(before)


def test_d2_the_engines_ids_tell_probes_of_one_container_apart_and_the_runtime_gets_its_own() -> None:
    ids = {engine_id("containerd://ab12", number) for number in (1, 2)}
    assert len(ids) == 2
    assert {runtime_id(each) for each in ids} == {"ab12"}


def test_the_engine_gets_a_pod_with_one_container_that_is_always_restarted() -> None:
    pod = json.loads(engine_pod(wanted(exec={"command": ["a"]}, terminationGracePeriodSeconds=5), 3))
    assert pod["metadata"]["uid"] == "u#3"
    assert pod["spec"]["restartPolicy"] == "Always"
    (container,) = pod["spec"]["containers"]
    assert "terminationGracePeriodSeconds" not in container["livenessProbe"]


def test_a_container_that_does_not_run_is_waiting_with_its_id() -> None:
    record = ContainerRecord("c://1", "app", State.EXITED, exit_code=1)
    status = json.loads(engine_status(record, 3, address="10.0.0.1", started=True))
    (row,) = status["containers"]
    assert (row["id"], row["state"]) == ("c://1#3", "waiting")


def test_d15_d7_commands_have_a_limit_and_an_end() -> None:
    assert exec_limits(ExecLimits()) == ExecLimits(max_in_flight=EXECS_MAX, client_deadline=1.0)
    tight = ExecLimits(max_in_flight=4, client_deadline=0.5)
    assert exec_limits(tight) == tight
