"""``probelet agent`` as a user starts it: a process of its own, against a scripted runtime and API server."""

import asyncio
import json
import random
import signal
import ssl
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from probelet.kube.kinds import EVENTS, LEASES
from probelet.runtime.cri.v1 import api_pb2

from tests.support.patience import until
from tests.system.cli.agent_process import agent, begun
from tests.unit.agent.made_pod import EXEC, NODE, made_pod
from tests.unit.agent.scripted_agent import AgentNode

pytestmark = pytest.mark.e2e

LIVES, LIFE_SECONDS_MAX, SEED = 5, 0.4, 18


async def test_it_probes_and_kills_across_kill_nine_and_ends_cleanly(bare_node: AgentNode) -> None:
    pod = made_pod({"app": {"readinessProbe": EXEC, "livenessProbe": EXEC}})
    (app,) = bare_node.run(pod)
    first = await begun(bare_node)
    await until(bare_node.is_ready)
    writes = bare_node.api.seen("apply", "pods")
    first.send_signal(signal.SIGKILL)
    await first.communicate()
    async with agent(bare_node) as second:
        await until(lambda: len(bare_node.api.all(LEASES)) == 1)
        probed = len(bare_node.runtime.called("exec_sync"))
        await until(lambda: len(bare_node.runtime.called("exec_sync")) > probed + 4)
        assert bare_node.api.seen("apply", "pods") == writes, "nothing flaps"
        bare_node.runtime.exec_answers["probe",] = api_pb2.ExecSyncResponse(exit_code=1, stdout=b"dead")
        await until(bare_node.stopped)
        assert [id for id, _ in bare_node.stopped()] == [app]
        await until(lambda: bare_node.events("Killing"))
        (found,) = [event for event in bare_node.api.all(EVENTS) if event["reason"] == "Killing"]
        assert found["source"] == {"component": "probelet-agent", "host": NODE}
        assert found["involvedObject"]["fieldPath"] == "spec.containers{app}"
    assert second.returncode == 0
    assert bare_node.runtime.containers[app].exit_code == 137


async def test_no_condition_turns_however_often_and_whenever_an_agent_is_killed(bare_node: AgentNode) -> None:
    """Each life of the agent gets new pods, so that it ends while their first results come."""
    moments = random.Random(SEED)
    turned: dict[str, list[str]] = {}

    def note() -> None:
        for name, turns in turned.items():
            if (status := bare_node.condition(name).get("status")) and turns[-1:] != [status]:
                turns.append(status)

    bare_node.api.store.listeners.append(note)
    probes = dict.fromkeys(("startupProbe", "readinessProbe", "livenessProbe"), EXEC)
    for life in range(LIVES):
        for number in range(4):
            name = f"pod-{life}-{number}"
            turned[name] = []
            bare_node.run(made_pod({"app": probes}, name=name))
        process, probed = await begun(bare_node), len(bare_node.runtime.called("exec_sync"))
        await until(lambda: len(bare_node.runtime.called("exec_sync")) > probed)  # noqa: B023
        await asyncio.sleep(moments.uniform(0, LIFE_SECONDS_MAX))
        process.send_signal(signal.SIGKILL)
        await process.communicate()
    async with agent(bare_node):
        await until(lambda: all(turns[-1:] == ["True"] for turns in turned.values()))
    assert all(turns in (["True"], ["False", "True"]) for turns in turned.values()), turned


async def test_a_second_agent_says_who_runs_and_goes_on_when_that_one_has_ended(bare_node: AgentNode) -> None:
    first = await begun(bare_node)
    await until(lambda: bare_node.api.seen("watch", "pods"))
    second = await begun(bare_node)
    assert second.stderr is not None
    line = json.loads(await second.stderr.readline())
    while line["message"] != "waiting for the state directory: two agents of a node exclude each other":
        line = json.loads(await second.stderr.readline())
    assert line["holder"] == f"another probelet (pid {first.pid})"
    assert bare_node.api.seen("watch", "pods") == 1
    first.terminate()
    await first.communicate()
    await until(lambda: bare_node.api.seen("watch", "pods") == 2)
    second.terminate()
    await second.communicate()
    assert second.returncode == 0


async def test_an_agent_that_waits_ends_by_a_signal(bare_node: AgentNode) -> None:
    async with agent(bare_node):
        await until(lambda: bare_node.api.seen("watch", "pods"))
        second = await begun(bare_node)
        assert second.stderr is not None
        while b"waiting for the state directory" not in await second.stderr.readline():
            pass
        second.terminate()
        await second.communicate()
        assert second.returncode == 0


async def test_what_cannot_work_is_one_line(bare_node: AgentNode, tmp_path: Path) -> None:
    for flags, said, code in (
        ({"kubeconfig": str(tmp_path / "none")}, "none", 3),
        ({"listen": "0.0.0.0:0"}, "--listen-health", 2),
        ({"listen_health": "127.0.0.1:0", "cert_file": "tls.crt"}, "--key-file", 2),
        ({"cert_file": "tls.crt", "key_file": "tls.key"}, "--listen-health", 2),
        ({"node_ip": "nowhere"}, '--node-ip: "nowhere" is no IP address', 2),
        ({"runtime": f"unix://{tmp_path / 'no.sock'}"}, "no.sock", 3),
    ):
        process = await begun(bare_node, **flags)
        _, err = await process.communicate()
        (line,) = err.decode().splitlines()
        assert process.returncode == code
        assert said in line.replace("\\", "")


@pytest.mark.parametrize("is_given", [True, False])
async def test_health_and_metrics_for_other_machines_go_over_tls_and_show_no_probe(
    bare_node: AgentNode, tls_files: tuple[Path, Path], is_given: bool
) -> None:
    bare_node.run(made_pod({"app": {"readinessProbe": EXEC}}))
    chain, key = tls_files
    certificate = {"cert_file": str(chain), "key_file": str(key)} if is_given else {}
    process = await begun(bare_node, listen_health="127.0.0.1:0", **certificate)
    try:
        assert process.stderr is not None
        while (line := json.loads(await process.stderr.readline()))["message"] != "pages":
            pass
        base = line["url"].removesuffix("/metrics")
        await until(bare_node.is_ready)
        found = {path: await asyncio.to_thread(fetched, base + path) for path in ("/healthz", "/readyz", "/metrics")}
        assert found["/healthz"][0] == found["/readyz"][0] == 200
        assert b"probelet_agent_pods 1" in found["/metrics"][1]
        assert (await asyncio.to_thread(fetched, base + "/statusz"))[0] == 404
    finally:
        process.terminate()
        await process.communicate()


def fetched(url: str) -> tuple[int, bytes]:
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    try:
        with urllib.request.urlopen(url, context=trusting, timeout=10) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, b""


@pytest.fixture
def tls_files(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate and its key, as cert-manager would write them."""
    import time

    from probelet.webhook.certificate.served import stand_in

    pair: Any = stand_in(int(time.time()))
    chain, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    chain.write_bytes(pair.chain)
    key.write_bytes(pair.key)
    return chain, key
