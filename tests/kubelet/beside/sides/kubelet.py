"""The kubelet: standalone, or with an API server, in which its pods then have mirror pods and events."""

import json
from pathlib import Path
from typing import Any

from tests.kubelet.beside.runtime import Runtime
from tests.kubelet.beside.sides.agent import NODE, SUFFIX, Agent, Row, Rows
from tests.kubelet.beside.sides.apiserver import ApiServer

NODE_IP = "10.99.0.1"


class Kubelet(Agent):
    """A kubelet with static pods and nothing else. Its log at level 4 has its events before the spam filter."""

    name = "kubelet"
    page = "http://127.0.0.1:10255/metrics"

    def __init__(self, runtime: Runtime, folder: Path, program: Path) -> None:
        super().__init__(runtime, folder)
        self._program = program
        self.cgroup = f"beside-{runtime.folder.name}"
        configuration = self.configuration.read_text()
        self.configuration.write_text(configuration.replace("cgroupRoot: /\n", f"cgroupRoot: /{self.cgroup}\n"))

    def command(self) -> list[str]:
        flags: dict[str, object] = {
            "config": self.configuration,
            "root-dir": self.folder / "root",
            "cert-dir": self.folder / "pki",
        }
        flags |= {"hostname-override": NODE, "node-ip": NODE_IP, "v": 4}
        return [str(self._program), *(f"--{flag}={value}" for flag, value in flags.items())]

    def rows(self) -> Rows:
        return rows_of(json.loads(self.get("http://127.0.0.1:10255/pods")))


class KubeletOfApiServer(Kubelet):
    """A kubelet whose status is that of the mirror pods, and whose events are what the API server keeps."""

    def __init__(self, runtime: Runtime, folder: Path, program: Path, server: ApiServer) -> None:
        super().__init__(runtime, folder, program)
        self._server = server

    def command(self) -> list[str]:
        return [*super().command(), f"--kubeconfig={self._server.kubeconfig}"]

    def rows(self) -> Rows:
        self.get("http://127.0.0.1:10255/healthz")
        return rows_of(self._server.get("/api/v1/pods"))

    def events(self) -> list[dict[str, Any]]:
        return [
            {
                "pod": event["involvedObject"].get("name", "").removesuffix(SUFFIX),
                "field": event["involvedObject"].get("fieldPath", ""),
                "type": event["type"],
                "reason": event["reason"],
                "message": event.get("message", ""),
                "count": event.get("count", 1),
            }
            for event in self._server.get("/api/v1/events")["items"]
            if event["involvedObject"]["kind"] == "Pod"
        ]


def rows_of(pods: dict[str, Any]) -> Rows:
    """The rows of a v1.PodList. A mirror pod counts under the UID of its static pod."""
    found: Rows = {}
    for pod in pods.get("items") or []:
        metadata, status, spec = pod["metadata"], pod.get("status", {}), pod["spec"]
        uid = metadata.get("annotations", {}).get("kubernetes.io/config.mirror", metadata["uid"])
        key = f"{metadata['name'].removesuffix(SUFFIX)}/{uid}"
        conditions = {one["type"]: one["status"] for one in status.get("conditions", [])}
        found[key] = {
            "phase": status.get("phase", ""),
            "reason": status.get("reason", ""),
            "message": status.get("message", ""),
            "ready": conditions.get("Ready") == "True",
        }
        known = {
            one["name"]: one
            for kind in ("initContainerStatuses", "containerStatuses")
            for one in status.get(kind) or []
        }
        for container in [*(spec.get("initContainers") or []), *spec["containers"]]:
            found[f"{key}/{container['name']}"] = _container(known.get(container["name"], {}))
    return found


def _container(status: dict[str, Any]) -> Row:
    state, last = _state(status.get("state") or {}), _state(status.get("lastState") or {})
    ended = [last["reason"], last["exit_code"], last["message"]] if last["state"] == "terminated" else None
    return {
        **state,
        "ready": status.get("ready", False),
        "started": bool(status.get("started")),
        "restarts": status.get("restartCount", 0),
        "last": ended,
    }


def _state(state: dict[str, Any]) -> Row:
    name = next(iter(state), "none")
    inner = state.get(name) or {}
    exit_code = inner.get("exitCode")
    return {
        "state": name,
        "reason": inner.get("reason", ""),
        "message": inner.get("message", ""),
        "exit_code": exit_code,
    }
