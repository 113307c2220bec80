"""A scene for real: the node service of this process on the embedded runtime, real processes, the real clock."""

import asyncio
import re
import resource
import statistics
import tempfile
from collections import defaultdict
from contextlib import AsyncExitStack
from pathlib import Path

from msgspec.structs import replace

from probelet._rust import Engine
from probelet.lab.stress.gate import ObservedGate
from probelet.lab.stress.outcome import Cost, Memory, Outcome, crashing, judge, spread
from probelet.lab.stress.pods import STAY, make_pod, status_key
from probelet.lab.stress.processes import cpu_seconds, resident_bytes
from probelet.lab.stress.scene import Scene
from probelet.lab.stress.sink import ApiSink
from probelet.node.options import NodeOptions
from probelet.node.service import Service
from probelet.policy.protocol.actions import Publish
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.embedded.launch import EmbeddedRuntime, launch
from probelet.runtime.host import RuntimeHost
from probelet.spec.read.load import Manifest
from probelet.spec.text.duration import SECOND


class PluginClient(RuntimeClient):
    """A client whose every start takes a while longer, and that knows when each container ran."""

    def __init__(self, endpoint: str, engine: Engine, cost_ns: int) -> None:
        super().__init__(endpoint)
        self._engine = engine
        self._cost_seconds = cost_ns / SECOND
        self._made: dict[str, tuple[int, str]] = {}
        self.started: dict[tuple[int, str], list[int]] = defaultdict(list)
        """By pod number and container, in order."""

    async def create_container(
        self,
        pod_sandbox_id: str,
        config: api_pb2.ContainerConfig,
        sandbox_config: api_pb2.PodSandboxConfig,
    ) -> str:
        """Creates a container like the runtime."""
        made = await super().create_container(pod_sandbox_id, config, sandbox_config)
        self._made[made] = (int(sandbox_config.metadata.uid.rpartition("-")[2]), config.metadata.name)
        return made

    async def start_container(self, container_id: str) -> None:
        """Calls after the time that a plug-in would take."""
        await asyncio.sleep(self._cost_seconds)
        await super().start_container(container_id)
        self.started[self._made.pop(container_id)].append(self._engine.now())


class RealNode:
    """A node that plays one scene; a context of its own for each."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.engine = Engine(start_jitter=False)
        self.gate = ObservedGate(scene.shape)
        self.sink = ApiSink(scene.api_qps)
        self._began = 0
        self._writer: asyncio.TimerHandle | None = None

    async def play(self, seconds: float, warm_up: float) -> Outcome:
        """Run the pods for so long; what they cost is counted after the warm-up."""
        async with AsyncExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="probelet-stress-")))
            runtime = await launch(folder)
            stack.push_async_callback(runtime.aclose)
            client = PluginClient(runtime.endpoint, self.engine, self.scene.start_cost_ns)
            stack.push_async_callback(client.aclose)
            host = RuntimeHost(client, self.engine, "stress", on_host=True)
            options = NodeOptions(log_root=runtime.log_directory, on_publish=self._publish)
            service = Service(host, self.gate, options)
            stack.push_async_callback(service.close)
            await service.start()
            self._began = self.engine.now()
            outcome = await self._measure(service, runtime, client, seconds, warm_up)
            await service.pods.drain(at_once=True)
            left = self.gate.left_after_housekeeping(self.engine.now())
            return replace(outcome, memory=replace(outcome.memory, entries_after_gc=left))

    async def _measure(
        self, service: Service, runtime: EmbeddedRuntime, client: PluginClient, seconds: float, warm_up: float
    ) -> Outcome:
        """The outcome, taken while the pods still run."""
        adding = asyncio.create_task(self._add(service))
        await asyncio.sleep(warm_up)
        since, before, below = self.engine.now(), _own_cpu(), cpu_seconds(runtime.process.pid)
        await asyncio.sleep(seconds - warm_up)
        await adding
        until, cpu = self.engine.now(), _own_cpu() - before
        cpu_below = cpu_seconds(runtime.process.pid) - below
        self._stop_writing()
        return judge(
            self.scene,
            self.gate,
            self.sink,
            until - self._began,
            Memory(self.gate.entries(until), 0, self._timers()),
            began_ns=self._began,
            counted_ns=since,
            cost=self._cost(client, since, cpu, cpu_below),
        )

    def _timers(self) -> int:
        found = re.search(rb"^probelet_timers (\d+)$", self.engine.metrics(), re.MULTILINE)
        assert found is not None, "the page has every series"
        return int(found[1])

    async def _add(self, service: Service) -> None:
        """Add the pods, all at once or one by one."""
        manifests = [self._manifest(number) for number in range(self.scene.pods)]
        if not self.scene.spread_ns:
            service.pods.set(manifests)
            return
        for number in range(len(manifests)):
            due = self._began + self.scene.spread_ns * number // len(manifests)
            await asyncio.sleep(max(0, due - self.engine.now()) / SECOND)
            service.pods.set(manifests[: number + 1])

    def _manifest(self, number: int) -> Manifest:
        scene, code = self.scene, self.scene.exit_code(number)
        program = ["false"] if code else ["true"]
        if scene.kill_ns:
            program = STAY
        elif scene.run_ns:
            program = ["sh", "-c", f"sleep {scene.run_ns / SECOND:g}; exit {code}"]
        return Manifest(make_pod(scene, number, program), Path("stress.yaml"), 1, f"stress-{number}")

    def _cost(self, client: PluginClient, since: int, cpu: float, cpu_below: float) -> Cost:
        ran, counted = list[int](), 0
        together: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for who, starts in crashing(self.gate).items():
            for n, (start, started) in enumerate(zip(starts, client.started[who], strict=False)):
                if n == 0 or start.at_ns < since:
                    continue
                counted += 1
                due = start.at_ns if start.due_ns is None else start.due_ns
                ran.append(started - due)
                together[n].append((due, started))
        resident, most = resident_bytes()
        bursts = [
            len(times) * SECOND / (max(ended for _, ended in times) - min(due for due, _ in times))
            for times in together.values()
            if len(times) > 1 and not self.scene.spread_ns
        ]
        each = round(cpu * 1000 / counted, 3) if counted else 0
        return Cost(
            cpu_ms_per_restart=each,
            cpu_ms_per_restart_range=(each, each),
            runtime_cpu_ms_per_restart=round(cpu_below * 1000 / counted, 3) if counted else 0,
            resident_bytes=resident,
            resident_bytes_max=most,
            start_decision_ms=spread(self.gate.lateness_ns(since)),
            start_ms=spread(ran),
            burst_restarts_per_second=round(statistics.median(bursts), 1) if bursts else 0,
        )

    def _publish(self, uid: str, publish: Publish) -> None:
        now = self.engine.now() - self._began
        self.sink.offer(now, uid, status_key(publish.phase, publish.pod_ip, publish.containers))
        if self._writer is None:
            self._write()

    def _write(self) -> None:
        now = self.engine.now() - self._began
        again = self.sink.write(now)
        loop = asyncio.get_running_loop()
        self._writer = None if again is None else loop.call_later((again - now) / SECOND, self._write)

    def _stop_writing(self) -> None:
        if self._writer is not None:
            self._writer.cancel()


def _own_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
