"""Probes of a NodePodProbe with everything real except the runtime, the kubelet and the API server."""

import asyncio
import json

from probelet.kube.kinds import NODE_POD_PROBES, PODS

from tests.unit.agent.enhanced.asking import (
    FAILS,
    ask,
    commands,
    entry,
    handler,
    is_state,
    probe,
    state,
    status,
    writes,
)
from tests.unit.agent.made_pod import NODE, made_pod
from tests.unit.agent.scripted_agent import AgentNode

EXEC_OLD = {"command": ["old"]}


async def test_a_probe_of_a_pod_that_was_not_taken_over_is_made_and_published(node: AgentNode) -> None:
    pod = made_pod()
    node.run(pod)
    ask(node, entry(pod, probe()))
    await node.until(lambda: is_state(node, "Succeeded"))
    assert {"lastProbeTime", "lastTransitionTime"} <= state(node).keys()
    assert status(node)[0]["uid"] == pod["metadata"]["uid"]


async def test_d6_a_failure_is_published_probing_goes_on_and_a_recovery_is_published(node: AgentNode) -> None:
    pod = made_pod()
    node.runtime.exec_answers["probe",] = FAILS
    node.run(pod)
    ask(node, entry(pod, probe()))
    await node.until(lambda: is_state(node, "Failed"))
    assert state(node)["message"] == "not well"
    node.runtime.exec_answers.clear()
    await node.until(lambda: is_state(node, "Succeeded"))
    assert "message" not in state(node)
    assert not node.stopped(), "the agent stops nothing for it"


async def test_a_failed_attempt_is_published_once_a_probe_of_the_node_has_failed(node: AgentNode) -> None:
    """The breaker of the node counts it, though its state stays until the threshold."""
    pod = made_pod()
    node.run(pod)
    shaky = handler("shaky", exec={"command": ["shaky"]}, periodSeconds=1, failureThreshold=1000)
    ask(node, entry(pod, probe(), shaky))
    await node.until(lambda: is_state(node, "Succeeded") and is_state(node, "Succeeded", "shaky"))
    before, ran = writes(node), commands(node)
    node.runtime.exec_answers["shaky",] = FAILS
    await node.until(lambda: commands(node) >= ran + 6)
    assert writes(node) == before, "by itself it costs no write"
    node.runtime.exec_answers["probe",] = FAILS
    await node.until(lambda: is_state(node, "Failed"))
    assert state(node, "shaky")["message"] == "last attempt failed: not well"
    assert is_state(node, "Succeeded", "shaky")


async def test_an_attempt_that_fails_later_is_published_at_once(node: AgentNode) -> None:
    pod = made_pod()
    node.runtime.exec_answers["probe",] = FAILS
    node.run(pod)
    shaky = handler("shaky", exec={"command": ["shaky"]}, periodSeconds=1, failureThreshold=1000)
    ask(node, entry(pod, probe(), shaky))
    await node.until(lambda: is_state(node, "Failed") and is_state(node, "Succeeded", "shaky"))
    node.runtime.exec_answers["shaky",] = FAILS
    await node.until(lambda: state(node, "shaky").get("message") == "last attempt failed: not well")


async def test_d2_t11_two_probes_of_one_container_are_independent(node: AgentNode) -> None:
    pod = made_pod()
    node.runtime.exec_answers["bad",] = FAILS
    (container,) = node.run(pod)
    ask(node, entry(pod, probe(), handler("other", exec={"command": ["bad"]}, periodSeconds=1, failureThreshold=2)))
    await node.until(lambda: is_state(node, "Failed", "other") and is_state(node, "Succeeded"))
    assert commands(node, container) == commands(node), "the runtime gets the container's own ID"


async def test_d3_a_new_container_is_unknown_until_its_threshold_is_reached(node: AgentNode) -> None:
    pod = made_pod()
    node.runtime.exec_answers["probe",] = FAILS
    (first,) = node.run(pod)
    ask(node, entry(pod, probe(failureThreshold=3)))
    await node.until(lambda: is_state(node, "Failed"))
    failed = state(node)
    node.runtime.exit(first, 137)
    second = node.restart(pod)
    await node.until(lambda: is_state(node, "Unknown"))
    assert commands(node, second) < 3
    await node.until(lambda: is_state(node, "Failed"))
    assert commands(node, second) >= 3
    assert state(node)["lastTransitionTime"] > failed["lastTransitionTime"]


async def test_t10_after_a_restart_one_failure_is_none(node: AgentNode) -> None:
    pod = made_pod()
    node.runtime.exec_answers["probe",] = FAILS
    (first,) = node.run(pod)
    ask(node, entry(pod, probe(failureThreshold=3)))
    await node.until(lambda: is_state(node, "Failed"))
    node.runtime.exit(first, 137)
    second = node.restart(pod)
    await node.until(lambda: commands(node, second) == 1)
    node.runtime.exec_answers.clear()
    failures = writes(node)
    await node.until(lambda: is_state(node, "Succeeded"))
    assert writes(node) - failures <= 2, "Unknown, then Succeeded"
    assert len(node.events("ELPProbeFailed")) == 1


async def test_d4_a_container_that_does_not_run_is_unknown_and_not_probed(node: AgentNode) -> None:
    pod = made_pod()
    (first,) = node.run(pod)
    ask(node, entry(pod, probe()))
    await node.until(lambda: is_state(node, "Succeeded"))
    node.runtime.exit(first, 1)
    await node.until(lambda: is_state(node, "Unknown"))
    assert state(node)["message"] == "container not running"
    ran = commands(node)
    await node.for_seconds(3)
    assert commands(node) == ran


async def test_d5_a_container_is_probed_once_the_kubelet_says_that_it_has_started(node: AgentNode) -> None:
    pod = made_pod()
    node.run(pod, started=False)
    ask(node, entry(pod, probe()))
    await node.until(lambda: is_state(node, "Unknown"))
    await node.for_seconds(3)
    assert commands(node) == 0
    node.write_status(pod)
    await node.until(lambda: is_state(node, "Succeeded"))


async def test_d5_where_the_agent_owns_the_startup_probe_its_own_result_counts(node: AgentNode) -> None:
    starts = {"exec": {"command": ["starts"]}, "periodSeconds": 1, "failureThreshold": 1000}
    pod = made_pod({"app": {"startupProbe": starts}})
    node.runtime.exec_answers["starts",] = FAILS
    node.run(pod)
    ask(node, entry(pod, probe()))
    await node.until(lambda: len(node.runtime.called("exec_sync")) >= 3)
    assert {tuple(call.cmd) for call in node.runtime.called("exec_sync")} == {("starts",)}
    node.runtime.exec_answers.clear()
    await node.until(lambda: is_state(node, "Succeeded"))


async def test_d10_a_changed_handler_is_unknown_and_an_unchanged_probe_goes_on(node: AgentNode) -> None:
    pod = made_pod()
    node.run(pod)
    same = handler("same", exec={"command": ["same"]}, periodSeconds=1)
    ask(node, entry(pod, probe(), same))
    await node.until(lambda: is_state(node, "Succeeded") and is_state(node, "Succeeded", "same"))
    since = state(node, "same")["lastTransitionTime"]
    node.runtime.exec_answers["other",] = FAILS
    ask(node, entry(pod, handler(exec={"command": ["other"]}, periodSeconds=1, failureThreshold=4), same))
    await node.until(lambda: is_state(node, "Unknown"))
    await node.until(lambda: is_state(node, "Failed"))
    assert state(node, "same")["lastTransitionTime"] == since


async def test_d10_a_changed_period_leaves_what_is_known(node: AgentNode) -> None:
    pod = made_pod()
    node.run(pod)
    ask(node, entry(pod, probe()))
    await node.until(lambda: is_state(node, "Succeeded"))
    before, ran, wrote = state(node), commands(node), writes(node)
    ask(node, entry(pod, probe(periodSeconds=2)))
    await node.until(lambda: commands(node) > ran + 2)
    assert state(node) == before
    assert writes(node) == wrote


async def test_d14_an_object_that_is_deleted_ends_all_probes_and_is_not_made_again(node: AgentNode) -> None:
    pod = made_pod()
    node.run(pod)
    ask(node, entry(pod, probe()))
    await node.until(lambda: is_state(node, "Succeeded"))
    node.api.remove(NODE_POD_PROBES, NODE)
    await node.for_seconds(2)
    ran = commands(node)
    await node.for_seconds(3)
    assert commands(node) == ran
    assert node.api.get(NODE_POD_PROBES, NODE) is None


async def test_f8_an_object_that_comes_again_is_probed_again(node: AgentNode) -> None:
    pod = made_pod()
    node.runtime.exec_answers["probe",] = FAILS
    node.run(pod)
    ask(node, entry(pod, probe()))
    await node.until(lambda: is_state(node, "Failed"))
    node.api.remove(NODE_POD_PROBES, NODE)
    await node.for_seconds(2)
    ask(node, entry(pod, probe(failureThreshold=3)))
    await node.until(lambda: is_state(node, "Unknown"))
    await node.until(lambda: is_state(node, "Failed"))


async def test_t5_an_entry_that_goes_ends_its_probe_and_its_state_goes(node: AgentNode) -> None:
    pod = made_pod()
    node.run(pod)
    ask(node, entry(pod, probe(), handler("other", exec={"command": ["other"]}, periodSeconds=1)))
    await node.until(lambda: is_state(node, "Succeeded") and is_state(node, "Succeeded", "other"))
    ask(node, entry(pod, probe()))
    await node.until(lambda: not state(node, "other"))
    assert is_state(node, "Succeeded")
    ask(node)
    await node.until(lambda: status(node) == [])


async def test_t12_a_slow_command_fails_after_its_timeout_and_ticks_are_not_bunched(node: AgentNode) -> None:
    pod = made_pod()
    node.runtime.held["exec_sync"] = asyncio.Event()
    node.run(pod)
    ask(node, entry(pod, probe(timeoutSeconds=1)))
    await node.until(lambda: commands(node))
    # An attempt in flight keeps its time, which is the machine's; the periods are the agent's.
    for _ in range(60):
        await node.round_trip(1_000_000_000)
    assert commands(node) < 10, "periods that passed meanwhile are not made up for"
    await node.until(lambda: is_state(node, "Failed"))
    assert "timed out" in state(node)["message"]
    node.runtime.held.pop("exec_sync").set()


async def test_s2_t16_another_host_is_refused_with_an_event_and_never_dialled(node: AgentNode) -> None:
    pod = made_pod()
    node.run(pod)
    ask(node, entry(pod, handler(httpGet={"host": "169.254.169.254", "port": 80}, periodSeconds=1)))
    await node.until(lambda: state(node).get("message"))
    assert state(node)["state"] == "Unknown"
    assert state(node)["message"] == "host 169.254.169.254: must be empty or the pod's own address, 127.0.0.1"
    await node.until(lambda: node.events("ELPHostRefused"))
    assert not node.engines, "nothing runs"


async def test_d1_no_handler_two_handlers_and_a_named_port_are_unknown_with_the_field(node: AgentNode) -> None:
    pod = made_pod()
    node.run(pod)
    ask(
        node,
        entry(
            pod,
            handler("none", periodSeconds=1),
            handler("two", exec={"command": ["a"]}, tcpSocket={"port": 1}),
            handler("named", httpGet={"port": "http"}),
            handler("type", httpGet=7),
            handler("negative", tcpSocket={"port": -1}),
            probe(),
        ),
    )
    await node.until(lambda: is_state(node, "Succeeded"))
    messages = {name: state(node, name)["message"] for name in ("none", "two", "named", "type", "negative")}
    assert messages["none"].startswith("spec.podProbes[0].probes[0].probe: Required value")
    assert "may not specify more than 1 handler type" in messages["two"]
    assert "'http' is a name" in messages["named"]
    assert messages["type"].startswith("spec.podProbes[0].probes[3].probe: Expected `object")
    assert "must be between 1 and 65535" in messages["negative"]
    assert {state(node, name)["state"] for name in messages} == {"Unknown"}
    await node.until(lambda: len(node.events("ELPInvalidProbe")) == len(messages))


async def test_d1_tcp_and_a_port_that_nobody_listens_at(node: AgentNode) -> None:
    pod = made_pod()
    node.run(pod)
    listening = handler("open", tcpSocket={"port": node.api.port}, periodSeconds=1, failureThreshold=1)
    ask(node, entry(pod, listening, handler("closed", tcpSocket={"port": 1}, periodSeconds=1, failureThreshold=1)))
    await node.until(lambda: is_state(node, "Succeeded", "open") and is_state(node, "Failed", "closed"))
    assert "connection refused" in state(node, "closed")["message"]


async def test_d13_an_event_for_a_change_of_state_at_most_one_a_minute(node: AgentNode) -> None:
    pod = made_pod()
    node.run(pod)
    ask(node, entry(pod, probe()))
    await node.until(lambda: is_state(node, "Succeeded"))
    for _ in range(3):
        node.runtime.exec_answers["probe",] = FAILS
        await node.until(lambda: is_state(node, "Failed"))
        node.runtime.exec_answers.clear()
        await node.until(lambda: is_state(node, "Succeeded"))
    assert node.events("ELPProbeSucceeded") == ["probe web-app succeeded"]
    assert node.events("ELPProbeFailed") == []
    for _ in range(70):
        await node.round_trip(1_000_000_000)
    node.runtime.exec_answers["probe",] = FAILS
    await node.until(lambda: node.events("ELPProbeFailed"))
    assert node.events("ELPProbeFailed") == ["probe web-app failed: not well"]


async def test_a_terminating_pod_is_probed_until_its_entry_goes_or_its_container_ends(node: AgentNode) -> None:
    pod = made_pod()
    (container,) = node.run(pod)
    ask(node, entry(pod, probe()))
    await node.until(lambda: is_state(node, "Succeeded"))
    node.terminate(pod)
    node.runtime.exec_answers["probe",] = FAILS
    await node.until(lambda: is_state(node, "Failed"))
    node.api.remove(PODS, "web", "default")
    node.runtime.exit(container, 0)
    await node.until(lambda: is_state(node, "Unknown"))


async def test_the_liveness_of_a_taken_over_pod_that_opted_in_is_never_the_agents(node: AgentNode) -> None:
    opted = {"apps.kruise.io/using-enhanced-liveness": "true"}
    pod = made_pod({"app": {"livenessProbe": {"exec": {"command": ["native"]}}}}, annotations=opted)
    node.runtime.exec_answers["probe",] = FAILS
    node.runtime.exec_answers["native",] = FAILS
    node.run(pod)
    ask(node, entry(pod, probe()))
    await node.until(lambda: is_state(node, "Failed"))
    await node.for_seconds(5)
    assert {tuple(call.cmd) for call in node.runtime.called("exec_sync")} == {("probe",)}
    assert not node.stopped()


async def test_d17_the_metrics_count_runs_writes_and_lag(node: AgentNode) -> None:
    pod = made_pod()
    node.run(pod)
    assert b"probelet_elp_probe" not in node.agent.view.metrics(), "a node without enhanced liveness has none"
    ask(node, entry(pod, probe()))
    await node.until(lambda: is_state(node, "Succeeded"))
    page = node.agent.view.metrics().decode()
    assert 'probelet_elp_probe_total{type="liveness",result="successful"} ' in page
    assert "probelet_elp_probe_duration_seconds_count" in page
    assert "probelet_elp_probe_lag_seconds_bucket" in page
    assert 'probelet_elp_status_updates_total{result="ok"} ' in page
    assert "probelet_elp_probes 1\n" in page


async def test_upstream_sync_1_stale_probes_end_and_changed_ones_begin_anew(node: AgentNode) -> None:
    first, second = made_pod(name="pod-1"), made_pod(name="pod-2")
    for pod in (first, second):
        node.run(pod)
    ask(node, entry(first, handler("check", exec={"command": ["check"]})), entry(second, handler("old", exec=EXEC_OLD)))
    await node.until(lambda: is_state(node, "Succeeded", "check") and is_state(node, "Succeeded", "old"))
    tcp = handler("old", tcpSocket={"port": node.api.port}, periodSeconds=1)
    ask(node, entry(first, handler("healthy", exec={"command": ["healthy"]})), entry(second, tcp))
    await node.until(lambda: is_state(node, "Succeeded", "healthy") and not state(node, "check"))
    (engine,) = node.engines
    workers = json.loads(engine.probe_states())
    assert sorted(worker["handler"] for worker in workers) == ["exec", "tcpSocket"]


async def test_upstream_sync_2_every_probe_of_the_spec_runs(node: AgentNode) -> None:
    pods = [made_pod(name=f"pod-{number}") for number in range(3)]
    for pod in pods:
        node.run(pod)
    probes = [[probe(f"a-{number}")] for number in range(3)]
    probes[0].append(probe("second"))
    ask(node, *(entry(pod, *each) for pod, each in zip(pods, probes, strict=True)))
    await node.until(lambda: sum(len(each["probeStates"]) for each in status(node)) == 4)
    await node.until(lambda: is_state(node, "Succeeded", "second"))
    assert len(json.loads(node.engines[0].probe_states())) == 4
