"""A pod whose runtime is scripted: what state each of its containers is in, as virtual time goes by."""

from typing import Any

import msgspec

Change = dict[str, Any]


class ScriptedPod:
    """One pod as the recorder's runtime and the kubelet's pod worker know it."""

    def __init__(self, uid: str, name: str, spec: dict[str, Any], pod_ip: str) -> None:
        self.uid = uid
        self.name = name
        self.spec = spec
        self.pod_ip = pod_ip
        self.phase = "Running"
        self.containers: dict[str, dict[str, Any]] = {}
        self.killing: set[str] = set()
        self.restart_counts: dict[str, int] = {}
        self.sync_pending = False
        self.terminating = False
        self.removed = False

    @property
    def is_terminal(self) -> bool:
        """Whether no container of the pod will run again."""
        return self.phase in ("Failed", "Succeeded")

    def patch(self, change: Change, now_ms: int) -> None:
        """Apply `phase` and `containers`: {name: {state, id, started_at_ms, exit_code}}."""
        self.phase = change.get("phase", self.phase)
        for name, told in (change.get("containers") or {}).items():
            container = {key: value for key, value in told.items() if key in ("id", "exit_code", "started_at_ms")}
            container["state"] = told["state"]
            if told["state"] == "running":
                container.setdefault("started_at_ms", now_ms)
            elif told["state"] == "terminated":
                container.setdefault("exit_code", 0)
            if told["state"] == "none":
                self.containers.pop(name, None)
            else:
                self.containers[name] = container

    def running(self, container_id: str) -> str | None:
        """The name of the running container with that id."""
        found = (
            name
            for name, container in self.containers.items()
            if container["state"] == "running" and container.get("id") == container_id
        )
        return next(found, None)

    def restarts(self, name: str) -> bool:
        """Whether a failed probe has the container killed and started again: not under Never, sidecars excepted."""
        if self.spec.get("restartPolicy") != "Never":
            return True
        return any(
            container["name"] == name and container.get("restartPolicy") == "Always"
            for container in self.spec.get("initContainers", [])
        )

    def facts(self) -> bytes:
        """The runtime's view of the pod, for a sync."""
        lists = {
            key: [
                {"name": name, **self.containers[name]} for each in specs if (name := each["name"]) in self.containers
            ]
            for key, specs in (
                ("containers", self.spec.get("containers", [])),
                ("init_containers", self.spec.get("initContainers", [])),
            )
        }
        return msgspec.json.encode({"phase": self.phase, "pod_ip": self.pod_ip, **lists})
