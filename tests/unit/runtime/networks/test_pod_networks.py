"""Which calls about pods' networks the engine gets, and when."""

import asyncio
import json
from collections.abc import Coroutine
from types import SimpleNamespace
from typing import Any

import pytest
from probelet.policy.facts.snapshot import SandboxRecord, Snapshot
from probelet.runtime.networks.place import NODE_ROOT
from probelet.runtime.networks.pod_networks import PodNetworks
from probelet.spec.annotation.probe_options import ANNOTATION, fold_options
from probelet.spec.model.pod import Pod
from probelet.spec.rules.defaults import set_defaults

from tests.unit.spec.pods import pod_of

INSIDE = {"app": {"livenessProbe": {"network": "pod"}}}


def pod(options: dict[str, Any] | None = INSIDE, **spec: Any) -> Pod:
    container = {"name": "app", "livenessProbe": {"tcpSocket": {"port": 80}}}
    annotations = {} if options is None else {ANNOTATION: json.dumps(options)}
    found, errors = fold_options(set_defaults(pod_of({"containers": [container], **spec}, annotations=annotations)))
    assert errors == []
    return found


def snapshot(sandbox: str, *, ready: bool = True) -> Snapshot:
    return Snapshot(sandboxes=(SandboxRecord(sandbox, ready, ip="10.0.0.7"),))


class Played:
    """A runtime that answers with ``info``, and an engine that can enter the paths of ``files``."""

    def __init__(self, info: Any = None, files: tuple[str, ...] = ("/run/netns/a",)) -> None:
        spec = {"linux": {"namespaces": [{"type": "network", "path": "/run/netns/a"}]}}
        self.info = {"runtimeSpec": spec} if info is None else info
        self.files = files
        self.asked: list[str] = []
        self.told: list[tuple[str, ...]] = []
        self.spawned: list[asyncio.Task[None]] = []
        self.seen = Snapshot()
        self.networks = PodNetworks(self, self, self, self)  # type: ignore[arg-type]

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        self.spawned.append(asyncio.create_task(work))
        return self.spawned[-1]

    async def pod_sandbox_status(self, sandbox: str, *, verbose: bool) -> Any:
        assert verbose
        self.asked.append(sandbox)
        return SimpleNamespace(info={"info": json.dumps(self.info)})

    def snapshot(self, uid: str) -> Snapshot:
        return self.seen

    def enter_network(self, uid: str, path: str) -> bool:
        if path not in self.files:
            raise OSError("setns: operation not permitted")
        self.told.append(("enter", path))
        return True

    def share_network(self, uid: str) -> None:
        self.told.append(("share",))

    def close_network(self, uid: str, why: str) -> None:
        self.told.append(("close", why))

    def leave_network(self, uid: str) -> None:
        self.told.append(("leave",))

    async def follow(self, followed: Pod, seen: Snapshot) -> None:
        self.seen = seen
        self.networks.follow(followed)
        await asyncio.gather(*self.spawned)
        self.spawned.clear()


async def test_each_sandbox_is_asked_for_once_and_left_at_the_end() -> None:
    played, wanted = Played(), pod()
    for sandbox in ("one", "one", "two"):
        await played.follow(wanted, snapshot(sandbox))
    played.networks.forget(wanted.metadata.uid)
    played.networks.forget(wanted.metadata.uid)
    assert played.asked == ["one", "two"]
    assert played.told == [("enter", "/run/netns/a"), ("enter", "/run/netns/a"), ("leave",)]


@pytest.mark.parametrize("seen", [Snapshot(), snapshot("one", ready=False)])
async def test_nothing_is_asked_without_a_ready_sandbox(seen: Snapshot) -> None:
    played = Played()
    await played.follow(pod(), seen)
    assert (played.asked, played.told) == ([], [])


async def test_a_pod_whose_probes_do_not_ask_costs_no_call() -> None:
    played = Played()
    for other in (pod(None), pod({"app": {"livenessProbe": {"errors": {"failureAfter": 2}}}})):
        await played.follow(other, snapshot("one"))
    assert (played.asked, played.told) == ([], [])


async def test_a_pod_on_the_nodes_network_is_as_ever() -> None:
    played = Played()
    await played.follow(pod(hostNetwork=True), snapshot("one"))
    shared = Played(info={"runtimeSpec": {"linux": {"namespaces": []}}})
    await shared.follow(pod(), snapshot("one"))
    assert (played.asked, played.told, shared.told) == ([], [("share",)], [("share",)])


async def test_what_cannot_be_entered_is_said_once() -> None:
    played, wanted = Played(files=()), pod()
    for _ in range(3):
        await played.follow(wanted, snapshot("one"))
    why = "setns: operation not permitted"
    assert played.told == [("close", f"/run/netns/a: {why}; {NODE_ROOT}/run/netns/a: {why}")]
    kata = Played(info={"runtimeType": "io.containerd.kata.v2"})
    await kata.follow(wanted, snapshot("one"))
    assert kata.told == [("close", "the runtime 'io.containerd.kata.v2' has a network stack of its own")]
