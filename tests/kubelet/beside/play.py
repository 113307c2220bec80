"""What happens on one side, and when. Every moment that the comparison measures from is a mark (nanoseconds)."""

import json
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from probelet.runtime.cri.v1 import api_pb2

from tests.kubelet.beside.pods import NAMES_OF_FILES, PODS, changes
from tests.kubelet.beside.sides.agent import SUFFIX, Agent
from tests.kubelet.beside.watch import Watch
from tests.system.containerd.machine import until

TOGETHER, STARTED_SECONDS = 8, 120.0
"""Pods start in groups, so that each starts about as soon as it would on a node with nothing else to do."""
KILL, CHANGE, REMOVE, LEFT, HORIZON = 3, 8, 20, 45, 88
"""Seconds after every pod has started: a container and a sandbox are killed; manifests change; manifests go; the notes
say what is left of their pods; the first part ends."""
CONTAINERD_DOWN, CONTAINERD_SECONDS, AGENT_SECONDS, END_SECONDS = 2, 15, 20, 25
"""Seconds without containerd, after it is back, after the agent is back, after all manifests have gone."""

BROKEN = "{this is no pod"


class Play:
    """One side's part, on pods with these names."""

    def __init__(self, agent: Agent, out: Path, names: list[str]) -> None:
        self._agent, self._out, self._names = agent, out, names
        self._marks: dict[str, Any] = {"side": agent.name}
        self._zero = 0.0

    def run(self) -> None:
        """Play everything; the notes are in the folder afterwards. Raises RuntimeError."""
        self._agent.start()
        watch = Watch(self._agent, self._out)
        watch.start()
        try:
            self._first_part()
            self._restarts()
            self._end()
        finally:
            watch.end()
            self._mark("end")

    def _first_part(self) -> None:
        self._mark("begin")
        for first in range(0, len(self._names), TOGETHER):
            group = self._names[first : first + TOGETHER]
            for name in group:
                self._agent.write(NAMES_OF_FILES.get(name, f"{name}.yaml"), PODS[name])
            until(lambda group=group: self._have_started(group), "pods to start", STARTED_SECONDS)  # type: ignore[misc]
        self._mark("started")
        self._zero = time.monotonic()
        self._wait_until(KILL)
        self._kill(changes.KILLED, "kill")
        self._kill_sandbox(changes.KILLED_SANDBOX, "kill_sandbox")
        self._wait_until(CHANGE)
        self._mark("change")
        for pod in changes.changed():
            self._rewrite(pod)
        if "file-broken" in self._names:
            self._agent.write(NAMES_OF_FILES["file-broken"], BROKEN)
        self._wait_until(REMOVE)
        self._mark("remove")
        for name in changes.REMOVED:
            (self._agent.manifests / f"{name}.yaml").unlink(missing_ok=True)
        self._wait_until(LEFT)
        self._mark("left_after_removal", self._left())
        self._wait_until(HORIZON)
        self._keep_metrics("")

    def _restarts(self) -> None:
        containerd = self._agent.runtime
        self._mark("containerd_stops")
        containerd.kill(signal.SIGTERM)
        time.sleep(CONTAINERD_DOWN)
        containerd.run()
        self._mark("containerd_is_back")
        time.sleep(CONTAINERD_SECONDS)
        self._mark("agent_stops")
        self._mark("agent_exit_code", self._agent.stop())
        for pod in changes.changed_while_down():
            self._rewrite(pod)
        (self._agent.manifests / f"{changes.REMOVED_WHILE_DOWN}.yaml").unlink(missing_ok=True)
        self._kill(changes.KILLED_WHILE_DOWN, "kill_while_down")
        time.sleep(1)
        self._mark("agent_starts")
        self._agent.start()
        # While a manifest has a mistake, probelet ends no pod that it finds on the runtime without a manifest.
        (self._agent.manifests / NAMES_OF_FILES["file-broken"]).unlink(missing_ok=True)
        time.sleep(AGENT_SECONDS)
        self._keep_metrics("-after-restart")

    def _end(self) -> None:
        self._mark("remove_all")
        for file in self._agent.manifests.iterdir():
            file.unlink()
        time.sleep(END_SECONDS)
        self._mark("left", self._left())
        self._mark("agent_exit_code_at_the_end", self._agent.stop())

    # Its parts.

    def _mark(self, name: str, value: Any = None) -> None:
        self._marks[name] = time.time_ns() if value is None else value
        (self._out / "marks.json").write_text(json.dumps(self._marks, indent=1))
        sys.stderr.write(f"{time.strftime('%X')} {self._agent.name}: {name}\n")

    def _wait_until(self, seconds: float) -> None:
        time.sleep(max(0.0, self._zero + seconds - time.monotonic()))

    def _rewrite(self, pod: dict[str, Any]) -> None:
        if (name := pod["metadata"]["name"]) in self._names:
            self._agent.write(f"{name}.yaml", pod)

    def _keep_metrics(self, suffix: str) -> None:
        for name, address in (("metrics", self._agent.page), ("probes", f"{self._agent.page}/probes")):
            (self._out / f"{name}{suffix}.txt").write_text(self._agent.get(address))

    def _have_started(self, names: list[str]) -> bool:
        """Whether each pod has a container that has run, apart from pods whose container cannot start."""
        ran = {_pod(one) for one in self._agent.runtime.containers() if one.state != api_pb2.CONTAINER_CREATED}
        return set(names) - {"no-image", "no-command"} <= ran

    def _kill(self, pod: str, mark: str) -> None:
        for one in self._agent.runtime.containers():
            if _pod(one) == pod and one.state == api_pb2.CONTAINER_RUNNING:
                self._mark(mark)
                self._agent.runtime.ctr("tasks", "kill", "-s", "9", one.id)

    def _kill_sandbox(self, pod: str, mark: str) -> None:
        for box in self._agent.runtime.sandboxes():
            if _pod(box) == pod and box.state == api_pb2.SANDBOX_READY:
                self._mark(mark)
                self._agent.runtime.ctr("tasks", "kill", "-s", "9", box.id)

    def _left(self) -> dict[str, list[str]]:
        """What exists now."""
        agent, links = self._agent, Path("/var/log/containers")
        removed = self._agent.runtime.sandboxes()
        return {
            "containers": sorted(f"{_pod(one)}/{one.metadata.name}" for one in agent.runtime.containers()),
            "sandboxes": sorted(_pod(box) for box in removed),
            "logs": sorted("/".join(path.relative_to(agent.logs).parts) for path in agent.logs.rglob("*")),
            "links to logs": sorted(path.name for path in links.glob("*") if _leads_into(path, agent.folder)),
            "folders of pods": sorted(path.name for path in (agent.folder / "root" / "pods").glob("*")),
        }


def _pod(one: api_pb2.Container | api_pb2.PodSandbox) -> str:
    return one.labels["io.kubernetes.pod.name"].removesuffix(SUFFIX)


def _leads_into(link: Path, folder: Path) -> bool:
    """Whether a link leads into the folder. Links of every kubelet lie in one place, and go at any time."""
    with suppress(OSError):
        return link.readlink().is_relative_to(folder)
    return False


def fresh(folder: Path) -> Path:
    """An empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
