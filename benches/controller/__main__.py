"""``python -m benches.controller``: two controllers beside 1,000 NodePodProbes of 110 entries on a real API server.

etcd and kube-apiserver are real (KUBEBUILDER_ASSETS), and so are the watches. This process plays the nodes: it makes
the objects, and writes a status at a time as agents do. Five of the 110 entries of each node are pods that exist; the
others have names of OpenKruise's PodProbeMarker, which the controller reads and leaves alone. The second controller
stands by, until the first one is killed.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.request import urlopen

import yaml
from probelet.beside.takeover.lease import lease_name
from probelet.beside.takeover.names import NAMESPACE
from probelet.kube.clock import LoopClock
from probelet.kube.connection import Connection
from probelet.kube.error import KubeError, Unreachable
from probelet.kube.kind import Kind
from probelet.kube.kinds import NAMESPACES, NODE_POD_PROBES, NODES, PODS
from probelet.kube.lease.heartbeat import Heartbeat

from benches.controller import decisions, load
from benches.controller.page import PAGE, RESULTS, render
from benches.controller.process import PATIENCE_SECONDS, Controller
from benches.machine import machine
from tests.support.paths import ROOT
from tests.system.admission.api_server import ApiServer, what_is_missing

SCHEMA: Final = "probelet-controller-scale/2"
CRDS: Final = Kind(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
PODS_MAX: Final = 5_000
LEASES_MAX: Final = 200
RENEWALS: Final = 1_000
"""Renewals of so many Leases; each is as large as any other."""
PARALLEL: Final = 6
"""Requests at once of this process."""
SETTLE_SECONDS: Final = 15.0


async def all_of(count: int, work: Callable[[int], Awaitable[Any]]) -> float:
    """Carries out ``work`` for each number; returns how many a second."""
    numbers = iter(range(count))
    began = time.perf_counter()

    async def worker() -> None:
        for number in numbers:
            await work(number)

    async with asyncio.TaskGroup() as group:
        for _ in range(PARALLEL):
            group.create_task(worker())
    return count / (time.perf_counter() - began)


class Bench:
    """One API server with two controllers beside it."""

    def __init__(self, api: ApiServer, connection: Connection, nodes: int, pods: int) -> None:
        self._api, self._connection = api, connection
        self._nodes, self._pods = nodes, pods
        self._controllers: list[Controller] = []

    async def crds(self) -> None:
        """Make the kinds known, and the namespace of the leader's Lease."""
        await self._connection.create(NAMESPACES, {"metadata": {"name": NAMESPACE}})
        for file in sorted((ROOT / "deploy" / "crds").glob("*s.yaml")):
            await self._connection.create(CRDS, yaml.safe_load(file.read_text()))
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                await self._connection.list_as(NODE_POD_PROBES, lambda _: None)
            except KubeError:
                assert time.monotonic() < end, "the kinds are not served"
                await asyncio.sleep(0.5)
            else:
                return

    async def start(self) -> float:
        """Start a controller and wait until it is ready; returns the seconds."""
        controller = Controller(self._api)
        self._controllers.append(controller)
        began = time.monotonic()
        await controller.start()
        await controller.until(lambda page: "ok" in page, "/readyz")
        return time.monotonic() - began

    async def change_leader(self) -> float:
        """Kill the leader; returns the seconds until the other one leads and knows everything."""
        leader, other = self._controllers
        await other.until(lambda page: "ok" in page, "/readyz")
        began = time.monotonic()
        leader.kill()
        await other.until(lambda page: "\nprobelet_elp_leader 1" in page, "/metrics")
        await other.until(lambda page: "ok" in page, "/readyz")
        self._controllers.remove(leader)
        return time.monotonic() - began

    def figures(self) -> tuple[float, float]:
        """Processor seconds and resident MiB of the leader, which is the first one."""
        return self._controllers[0].figures()

    def stop(self) -> None:
        for controller in self._controllers:
            controller.kill()

    async def renew_leases(self, count: int) -> dict[str, Any]:
        """Agents renew their Leases so often; returns what one renewal is in etcd."""
        beats = [
            Heartbeat(self._connection, lease_name(load.node_name(index)), NAMESPACE, f"holder-{index}", LoopClock())
            for index in range(min(self._nodes, LEASES_MAX))
        ]
        for beat in beats:
            await beat.renew()
        before = self.put_bytes()
        rate = await all_of(count, lambda number: beats[number % len(beats)].renew())
        return {"bytes": round((self.put_bytes() - before) / count), "renewals_a_second": round(rate, 1)}

    def put_bytes(self) -> float:
        """What has been written into etcd since it started."""
        page = urlopen(f"{self._api.etcd}/metrics").read().decode()
        [line] = [line for line in page.splitlines() if line.startswith("etcd_debugging_mvcc_total_put_size_in_bytes ")]
        return float(line.rpartition(" ")[2])

    async def make_nodes(self) -> None:
        async def one(index: int) -> None:
            made = await self._connection.create(NODES, load.node(index))
            await self._connection.replace(NODES, {**made, "status": load.node(index)["status"]}, subresource="status")
            others = load.foreign_entries(index, load.ENTRIES - self._pods // self._nodes)
            body = {"metadata": {"name": load.node_name(index)}, "spec": {"podProbes": others}}
            await self._connection.create(NODE_POD_PROBES, body)

        await all_of(self._nodes, one)

    async def make_pods(self) -> None:
        began = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

        async def one(index: int) -> None:
            made = await self._connection.create(PODS, load.pod(index, self._nodes))
            status = load.pod_status(index, began)
            await self._connection.replace(PODS, {**made, "status": status}, subresource="status")

        await all_of(self._pods, one)

    async def until_mapped(self) -> float:
        """Wait until every NodePodProbe has all of its entries; returns the seconds."""
        began = time.monotonic()
        while True:
            # A list of all may take longer than a connection waits, on a machine that is busy with the writes.
            with suppress(Unreachable):
                listed = await self._connection.list_as(NODE_POD_PROBES, lambda obj: len(obj["spec"]["podProbes"]))
                if min(listed.items) >= load.ENTRIES:
                    return time.monotonic() - began
            assert time.monotonic() - began < PATIENCE_SECONDS, "the mapping does not end"
            await asyncio.sleep(1)

    async def publish(self, rounds: int) -> dict[str, Any]:
        """Every node publishes its status so often, as fast as the API server takes it."""
        cpu, _ = self.figures()
        put = self.put_bytes()
        began = time.perf_counter()
        sizes: list[int] = []

        async def one(number: int) -> None:
            name = load.node_name(number % self._nodes)
            obj = await self._connection.get(NODE_POD_PROBES, name)
            body = {**obj, "status": {"podProbeStatuses": load.statuses(obj["spec"]["podProbes"])}}
            written = await self._connection.replace(NODE_POD_PROBES, body, subresource="status")
            sizes.append(len(json.dumps(written, separators=(",", ":"))))

        rate = await all_of(self._nodes * rounds, one)
        seconds = time.perf_counter() - began
        put = (self.put_bytes() - put) / (self._nodes * rounds)
        await asyncio.sleep(SETTLE_SECONDS)
        after, rss = self.figures()
        return {
            "statuses": self._nodes * rounds,
            "statuses_a_second": round(rate, 1),
            "seconds": round(seconds, 1),
            "cpu_ms_a_status": round(1000 * (after - cpu) / (self._nodes * rounds), 3),
            "object_bytes": round(sum(sizes) / len(sizes)),
            "revision_bytes": round(put),
            "rss_mib": round(rss, 1),
        }


async def measured(nodes: int, pods: int, rounds: int) -> dict[str, Any]:
    """The figures of one run."""
    folder = Path(tempfile.mkdtemp(prefix="probelet-bench-controller-"))
    api = ApiServer(folder)
    try:
        api.start()
        async with Connection.found(api.kubeconfig, "") as connection:
            bench = Bench(api, connection, nodes, pods)
            try:
                return await plays(bench, nodes, pods, rounds)
            finally:
                bench.stop()
    finally:
        api.stop()


async def plays(bench: Bench, nodes: int, pods: int, rounds: int) -> dict[str, Any]:
    await bench.crds()
    await bench.start()
    await asyncio.sleep(SETTLE_SECONDS)
    empty = bench.figures()[1]
    await bench.make_nodes()
    await asyncio.sleep(SETTLE_SECONDS)
    with_probes = bench.figures()[1]
    await bench.make_pods()
    mapped = await bench.until_mapped()
    await asyncio.sleep(SETTLE_SECONDS)
    with_pods = bench.figures()[1]
    published = await bench.publish(rounds)
    idle_cpu = bench.figures()[0]
    await asyncio.sleep(30)
    idle = (bench.figures()[0] - idle_cpu) / 30 * 100
    leases = await bench.renew_leases(RENEWALS)
    reads = await bench.start()
    changed = await bench.change_leader()
    return {
        "nodes": nodes,
        "pods": pods,
        "entries": load.ENTRIES,
        "rss_mib": {"empty": round(empty, 1), "with_nodes": round(with_probes, 1), "with_pods": round(with_pods, 1)},
        "mapping_ends_seconds_after_the_last_pod": round(mapped, 1),
        "idle_cpu_percent": round(idle, 2),
        "published": published,
        "lease": leases,
        "second_controller_ready_seconds": round(reads, 1),
        "leader_change_seconds": round(changed, 1),
    }


def main() -> int:
    """Measures, writes the results, and renders the page from them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=1_000)
    parser.add_argument("--pods", type=int, default=PODS_MAX)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--render", action="store_true", help="only render the page from the kept results")
    chosen = parser.parse_args()
    if not chosen.render:
        if why := what_is_missing():
            sys.stderr.write(f"{why}\n")
            return 1
        cluster = asyncio.run(measured(chosen.nodes, min(chosen.pods, PODS_MAX), chosen.rounds))
        found = {
            "schema": SCHEMA,
            "machine": machine(),
            "load_average": round(os.getloadavg()[2], 1),
            "cluster": cluster,
            "decision": decisions.measured(chosen.nodes),
        }
        RESULTS.write_text(json.dumps(found, indent=2) + "\n")
    PAGE.write_text(render(json.loads(RESULTS.read_text())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
