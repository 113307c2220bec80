"""The verbs that people use with an agent, against its control socket and against the API server."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from probelet.kube.kinds import LEASES, PODS
from probelet.server.control.server import ControlServer
from probelet.server.control.state_dir import locked_state_dir
from probelet.server.error import ServerError

from tests.support.kube_api import Answer, KubeApi
from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.scripted_agent import AgentNode


async def verb(*arguments: str) -> tuple[int, str, str]:
    """Runs a verb in a process of its own, while the servers of this process answer it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "probelet", *arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def test_pause_and_status_over_the_control_socket(bare_node: AgentNode, tmp_path: Path) -> None:
    bare_node.run(made_pod({"app": {"readinessProbe": EXEC}}))
    state_dir = tmp_path / "state"
    async with bare_node.an_agent():
        await bare_node.until(bare_node.is_ready)
        with locked_state_dir(state_dir):
            control = ControlServer(bare_node.agent.view, bare_node.agent.commands, state_dir)
            await control.start()
            try:
                code, out, err = await verb("pause", "web", "--for", "10m", "--state-dir", str(state_dir))
                assert (code, err) == (0, "")
                assert out.startswith("paused until 2")
                assert out.endswith(": app readiness\n")
                code, out, _ = await verb("status", "--state-dir", str(state_dir))
                assert code == 0
                assert "paused until" in out
                code, out, _ = await verb("pause", "web", "--end", "-o", "json", "--state-dir", str(state_dir))
                assert json.loads(out)["probes"] == [
                    {"container": "app", "probe_type": "readiness", "paused_until": None}
                ]
                code, _, err = await verb("pause", "web", "--state-dir", str(state_dir))
                assert (code, "want either --for TIME or --end" in err) == (2, True)
                code, _, err = await verb("pause", "web", "--for", "25h", "--state-dir", str(state_dir))
                assert (code, "--for: want from 1s to 24h" in err) == (2, True)
                code, _, err = await verb("pause", "nobody", "--for", "1m", "--state-dir", str(state_dir))
                assert (code, 'there is no pod "nobody"' in err) == (2, True)
                code, _, err = await verb("retry", "web", "--state-dir", str(state_dir))
                assert (code, "the kubelet restarts the containers of this node" in err) == (3, True)
                code, out, _ = await verb("top", "--state-dir", str(state_dir))
                assert (code, "web" in out) == (0, True)
            finally:
                await control.close()


def test_a_second_agent_of_the_node_is_refused_in_one_line(tmp_path: Path) -> None:
    state_dir = tmp_path / "state"
    refused = pytest.raises(ServerError, match="another probelet runs here")
    with locked_state_dir(state_dir), refused, locked_state_dir(state_dir):
        pass


async def test_status_cluster_lists_pods_without_an_agent_and_exits_with_one() -> None:
    async with KubeApi() as api:
        pod = made_pod({"app": {"readinessProbe": EXEC}})
        api.put(PODS, pod)
        flags = ("status", "--cluster", "--kubeconfig", str(api.kubeconfig()))
        code, out, _ = await verb(*flags)
        assert (code, "no agent on worker-1 probes default/web: not ready" in out) == (1, True)
        api.put(LEASES, lease("worker-1"))
        code, out, err = await verb(*flags, "-o", "json")
        assert (code, err) == (0, "")
        assert json.loads(out)["uncovered"] == []
        api.faults.add(Answer(403, 'User "x" cannot list resource "leases"', "Forbidden"), "list", "leases")
        code, _, err = await verb(*flags)
        assert code == 3
        assert "list leases.coordination.k8s.io" in err


def lease(node: str) -> dict[str, Any]:
    spec = {"renewTime": "2126-01-01T00:00:00.000000Z", "leaseDurationSeconds": 40, "holderIdentity": "x"}
    return {"metadata": {"name": f"probelet-agent-{node}", "namespace": "probelet-system"}, "spec": spec}
