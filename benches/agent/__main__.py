"""``python -m benches.agent``: memory and processor time of ``probelet agent`` on a node of 110 taken-over pods.

The agent is a process of its own, as a user starts it. Runtime and API server are the doubles of its tests, in this
process: they answer at once, so the figures are the agent's own. A pod is as large as one of a Deployment in a cluster,
and has one container with an HTTP readiness probe every 5 s and a liveness probe every 17 s: 0.26 probes a second. The
rows of the agent differ in the runtime: with container events (containerd 2) the agent lists it every ten seconds,
without (containerd 1.6) every second. Beside them stands what the kubelet's own ``prober.Manager`` needs for the same
probes.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from probelet.beside.takeover.names import CONDITION
from probelet.kube.kinds import PODS

from benches.agent import page
from benches.agent.load import LIVENESS_SECONDS, READINESS_SECONDS
from benches.agent.native import NAME, native
from benches.engines.kubelet import ENGINE
from benches.machine import machine
from tests.support.kube_api import KubeApi
from tests.unit.agent.made_pod import NODE, made_pod
from tests.unit.agent.scripted_kubelet import ScriptedKubelet
from tests.unit.node.scripted_runtime import ScriptedRuntime

RSS_MIB_MAX: Final = 90.0
CPU_PERCENT_MAX: Final = 3.0
"""The budgets, of one core, for 110 pods."""

WARM_SECONDS: Final = 20.0
"""First probes, first lists and first writes of 110 conditions are over by then."""

OTHER_FIELDS: Final = 150
"""How many fields a pod's managers own besides."""

ANSWER: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A target that is always well."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(ANSWER)
    writer.close()


def figures(pid: int) -> tuple[float, float]:
    """Processor seconds and resident MiB of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK"), int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def probed_pod(index: int, port: int) -> dict[str, Any]:
    """A pod with a readiness and a liveness probe, and the rest of its seven kilobytes in ``managedFields``."""
    get = {"httpGet": {"path": "/", "port": port}}
    readiness = {**get, "periodSeconds": READINESS_SECONDS}
    liveness = {**get, "periodSeconds": LIVENESS_SECONDS}
    pod = made_pod({"app": {"readinessProbe": readiness, "livenessProbe": liveness}}, name=f"pod-{index}")
    owned: dict[str, Any] = {"f:name": {}, "f:value": {}}
    fields = {f"f:field-{field}": owned for field in range(OTHER_FIELDS)}
    pod["metadata"]["managedFields"] = [{"manager": "kubelet", "operation": "Update", "fieldsV1": fields}]
    return pod


def is_ready(pod: dict[str, Any]) -> bool:
    """Whether the agent has opened the gate of a pod."""
    conditions = pod.get("status", {}).get("conditions", ())
    return any(found["type"] == CONDITION and found["status"] == "True" for found in conditions)


async def measured(pods: int, seconds: float, *, with_events: bool) -> dict[str, Any]:
    """One row: starts everything, waits until all pods are ready and warm, and measures."""
    folder = Path(tempfile.mkdtemp(prefix="probelet-bench-agent-"))
    runtime = ScriptedRuntime(with_events=with_events)
    await (await runtime.serve(folder)).aclose()
    target = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1024)
    async with KubeApi() as api, target:
        kubelet = ScriptedKubelet(runtime)
        for index in range(pods):
            pod = probed_pod(index, target.sockets[0].getsockname()[1])
            pod["metadata"]["uid"] = api.put(PODS, pod)["metadata"]["uid"]
            kubelet.start(pod)
            api.put(PODS, {**pod, "status": kubelet.status(pod)})
        flags = ("--kubeconfig", str(api.kubeconfig()), "--runtime", f"unix://{folder / 'cri.sock'}", "--node", NODE)
        where = ("--state-dir", str(folder / "state"), "--listen", "127.0.0.1:0", "--log-level", "warning")
        agent = await asyncio.create_subprocess_exec(sys.executable, "-m", "probelet", "agent", *flags, *where)
        try:
            await api.until(lambda: all(map(is_ready, api.all(PODS))))
            await asyncio.sleep(WARM_SECONDS)
            cpu, _ = figures(agent.pid)
            calls = len(runtime.calls)
            await asyncio.sleep(seconds)
            after, rss = figures(agent.pid)
        finally:
            agent.terminate()
            await agent.wait()
    await runtime.stop()
    return {
        "prober": f"agent, a runtime {'with' if with_events else 'without'} events",
        "pods": pods,
        "seconds": seconds,
        "rss_mib": round(rss, 1),
        "cpu_percent": round(100 * (after - cpu) / seconds, 2),
        "runtime_calls_a_second": round((len(runtime.calls) - calls) / seconds, 2),
    }


async def rows(pods: int, seconds: float) -> list[dict[str, Any]]:
    """All rows."""
    found = [await measured(pods, seconds, with_events=with_events) for with_events in (True, False)]
    if why := ENGINE.missing():
        print(why, file=sys.stderr)
    else:
        found.append(await native(pods, seconds, WARM_SECONDS, answer))
    return found


def main() -> int:
    """Measures, keeps and prints the rows; 1 if the agent misses a budget."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pods", type=int, default=110)
    parser.add_argument("--seconds", type=float, default=60)
    chosen = parser.parse_args()
    before = os.getloadavg()
    found = asyncio.run(rows(chosen.pods, chosen.seconds))
    loads = {"load_before": before, "load_after": os.getloadavg()}
    page.keep({"schema": page.SCHEMA, "machine": machine(), **loads, "rows": found})
    for row in found:
        print(json.dumps(row))
    agents = [row for row in found if row["prober"] != NAME]
    return int(any(row["rss_mib"] > RSS_MIB_MAX or row["cpu_percent"] > CPU_PERCENT_MAX for row in agents))


if __name__ == "__main__":
    sys.exit(main())
