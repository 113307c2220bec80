"""A controller and an API server with real HTTP between them, a clock that a test puts forward, and scripted nodes."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Self

from probelet.beside.guard.mapping.merge import MergeOptions
from probelet.beside.guard.names import CONTEXT, OPT_IN
from probelet.beside.guard.objects.moment import text
from probelet.beside.guard.restart.state.observed_cluster import GuardOptions
from probelet.controller.service import ControllerOptions, ControllerService
from probelet.kube import kinds
from probelet.kube.kind import Kind
from probelet.spec.annotation.depends_on import ANNOTATION as DEPENDS_ON

from tests.support.kube_api import KubeApi
from tests.support.patience import PATIENCE_SECONDS
from tests.unit.kube.virtual_clock import SECOND, VirtualClock

NAMESPACE = "probelet-system"
CONTEXT_TEXT = '[{"name":"app","livenessProbe":{"exec":{"command":["/healthy.sh"]},"periodSeconds":10}}]'
FAST = {"rate.tokensPerMinute": "6000", "rate.burst": "100"}


class Running:
    """One controller process."""

    def __init__(self, cluster: "ScriptedCluster", name: str, **options: Any) -> None:
        merge = {key: options.pop(key) for key in ("naming", "keep_empty", "trust_changes") if key in options}
        manages = options.pop("manages_requests", True)
        self.cluster = cluster
        self.options = ControllerOptions(
            namespace=NAMESPACE,
            config_map="elp-config",
            holder=name,
            host=name,
            merge=MergeOptions(**merge),
            guard=GuardOptions(naming=merge.get("naming", "seed"), **options),
            manages_requests=manages,
        )
        self.stack = AsyncExitStack()
        self.service: ControllerService
        self.task: asyncio.Task[None]

    async def start(self) -> None:
        connection = await self.stack.enter_async_context(self.cluster.api.connection())
        self.service = ControllerService(connection, self.options, self.cluster.clock)
        self.task = asyncio.create_task(self.service.run())

    async def stop(self) -> None:
        """The end of a process by a signal: the lease is released."""
        self.task.cancel()
        await asyncio.wait([self.task])
        await self.stack.aclose()

    async def kill(self) -> None:
        """The end of a process by -9: nothing more reaches the API server."""
        await self.stack.aclose()
        self.task.cancel()
        await asyncio.wait([self.task])

    @property
    def metrics(self) -> str:
        return self.service.render_metrics().decode()

    def count(self, line: str) -> float:
        """The value of one series."""
        found = [each for each in self.metrics.splitlines() if each.startswith(f"{line} ")]
        return float(found[0].rpartition(" ")[2]) if found else 0.0


class ScriptedCluster:
    """An API server with nodes and a workload; async context manager."""

    def __init__(self) -> None:
        self.api = KubeApi()
        self.clock = VirtualClock()
        self.controllers: list[Running] = []

    async def __aenter__(self) -> Self:
        await self.api.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.api.faults.clear()
        for controller in self.controllers:
            if not controller.task.done():
                await controller.stop()
            elif not controller.task.cancelled() and controller.task.exception() is not None:
                await controller.stack.aclose()
        await self.api.__aexit__(kind, error, at)

    async def controller(self, name: str = "a", **options: Any) -> Running:
        """Start a controller."""
        made = Running(self, name, **options)
        await made.start()
        self.controllers.append(made)
        return made

    # Objects.

    def at(self, seconds_ago: float = 0) -> str:
        return text(self.clock.wall_ns() - int(seconds_ago * SECOND))

    def settings(self, data: dict[str, str]) -> None:
        meta = {"name": "elp-config", "namespace": NAMESPACE}
        self.api.put(kinds.CONFIG_MAPS, {"metadata": meta, "data": data})

    def node(self, name: str, *, ready: str = "True") -> None:
        status = {"conditions": [{"type": "Ready", "status": ready}]}
        self.api.put(kinds.NODES, {"metadata": {"name": name}, "status": status})

    def workload(self, name: str = "web", replicas: int = 10) -> str:
        obj = {"metadata": {"name": name, "namespace": "default"}, "spec": {"replicas": replicas}}
        uid: str = self.api.put(kinds.STATEFUL_SETS, obj)["metadata"]["uid"]
        return uid

    def pod(
        self,
        name: str,
        node: str = "node-1",
        *,
        restarts: int = 0,
        ready: bool = True,
        app: str = "web",
        asks: str = "",
        **annotations: str,
    ) -> Any:
        owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": app, "uid": app, "controller": True}
        noted = {OPT_IN: "true", CONTEXT: CONTEXT_TEXT, **({DEPENDS_ON: asks} if asks else {}), **annotations}
        container = {
            "name": "app",
            "containerID": f"containerd://{name}-{restarts}",
            "restartCount": restarts,
            "ready": ready,
            "state": {"running": {"startedAt": self.at()}},
        }
        return self.api.put(
            kinds.PODS,
            {
                "metadata": {
                    "name": name,
                    "namespace": "default",
                    "labels": {"app": "web"},
                    "annotations": noted,
                    "ownerReferences": [owner],
                },
                "spec": {"nodeName": node, "restartPolicy": "Always", "containers": [{"name": "app"}]},
                "status": {
                    "phase": "Running",
                    "podIP": "10.0.0.1",
                    "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
                    "containerStatuses": [container],
                },
            },
        )

    def opted_out(self, name: str) -> None:
        pod = self.api.get(kinds.PODS, name, "default")
        assert pod is not None
        annotations = {key: value for key, value in pod["metadata"]["annotations"].items() if key != OPT_IN}
        self.api.put(kinds.PODS, {**pod, "metadata": {**pod["metadata"], "annotations": annotations}})

    def probes(self, node: str = "node-1") -> Any:
        return self.api.get(kinds.NODE_POD_PROBES, node)

    def mapped(self, node: str = "node-1") -> list[str]:
        obj = self.probes(node)
        return [] if obj is None else [entry["name"] for entry in obj["spec"]["podProbes"]]

    def publish(self, *failed: str, node: str = "node-1", word: str = "Failed") -> None:
        """The node publishes that the probes of these pods fail, and those of its other pods succeed."""
        obj = self.probes(node)
        statuses = [
            {
                **{key: entry[key] for key in ("name", "namespace", "uid")},
                "probeStates": [
                    {
                        "name": probe["name"],
                        "state": word if entry["name"] in failed else "Succeeded",
                        "lastProbeTime": self.at(),
                        "lastTransitionTime": self.at(),
                        "message": "HTTP probe failed with statuscode: 503",
                    }
                    for probe in entry["probes"]
                ],
            }
            for entry in obj["spec"]["podProbes"]
        ]
        self.api.put(kinds.NODE_POD_PROBES, {**obj, "status": {"podProbeStatuses": statuses}})

    @property
    def requests(self) -> list[Any]:
        return list(self.api.all(kinds.CONTAINER_RECREATE_REQUESTS))

    @property
    def restarted(self) -> list[str]:
        return [each["spec"]["podName"] for each in self.requests]

    def set_status(self, kind: Kind, name: str, status: dict[str, Any], namespace: str = "default") -> None:
        obj = self.api.get(kind, name, namespace)
        assert obj is not None
        self.api.put(kind, {**obj, "status": status})

    def complete(self, request: Any, *, succeeded: bool = True) -> None:
        """The node has carried out a request; the kubelet shows the new container."""
        status = {
            "phase": "Completed",
            "completionTime": self.at(),
            "containerRecreateStates": [{"name": "app", "phase": "Succeeded" if succeeded else "Failed"}],
        }
        if succeeded:
            self.pod(request["spec"]["podName"], restarts=1)
        self.set_status(kinds.CONTAINER_RECREATE_REQUESTS, request["metadata"]["name"], status)

    def events(self, reason: str) -> list[Any]:
        return [each for each in self.api.all(kinds.EVENTS) if each["reason"] == reason]

    def pdb(self, allowed: int) -> None:
        self.api.put(
            kinds.POD_DISRUPTION_BUDGETS,
            {
                "metadata": {"name": "web", "namespace": "default", "generation": 1},
                "spec": {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": 1},
                "status": {
                    "observedGeneration": 1,
                    "disruptionsAllowed": allowed,
                    "currentHealthy": 10,
                    "desiredHealthy": 9,
                },
            },
        )

    # Time.

    async def until(self, holds: Callable[[], bool], *, step_ns: int = SECOND // 4) -> None:
        """Let time go by until something holds: the clock moves on whenever nothing else happens."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not holds():
                await self.quiet()
                if not holds():
                    self.clock.advance(step_ns)

    async def quiet(self) -> None:
        """Wait until nothing arrives at the API server any more, so that the clock does not overtake what was sent."""
        seen, rounds = (-1, -1), 0
        while rounds < 3:
            await asyncio.sleep(0.003)
            now = (len(self.api.requests), self.api.store.version)
            rounds = rounds + 1 if now == seen else 0
            seen = now

    async def pass_seconds(self, seconds: float) -> None:
        """Let that much time go by."""
        end = self.clock.now() + int(seconds * SECOND)
        await self.until(lambda: self.clock.now() >= end, step_ns=SECOND)

    async def ready(self, *controllers: Running) -> Running:
        """Wait until one of the controllers decides; returns it."""

        def leaders() -> list[Running]:
            return [each for each in controllers if each.service._leading is not None]

        await self.until(lambda: bool(leaders()) and leaders()[0].service.why_not_ready is None)
        return leaders()[0]
