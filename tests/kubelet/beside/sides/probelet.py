"""``probelet run`` with the kubelet's configuration and its own defaults for everything else."""

import sys
from typing import Any

from probelet.server.control.client import Client
from probelet.server.error import NotRunningError

from tests.kubelet.beside.sides.agent import NODE, SUFFIX, Agent, Rows


class Probelet(Agent):
    """The service under test."""

    name = "probelet"
    page = "http://127.0.0.1:10290/metrics"

    def command(self) -> list[str]:
        flags = {"runtime": self.runtime.endpoint, "config": self.configuration, "root-dir": self.folder / "root"}
        flags |= {"state-dir": self.folder / "state", "listen": "127.0.0.1:10290", "node-name": NODE}
        command = [sys.executable, "-m", "probelet", "run", str(self.manifests), "--log-format=json"]
        return [*command, *(f"--{flag}={value}" for flag, value in flags.items())]

    def rows(self) -> Rows:
        try:
            document = Client(self.folder / "state").status()
        except NotRunningError as error:
            raise RuntimeError(str(error)) from None
        found: Rows = {}
        for pod in document["pods"]:
            key = f"{pod['name'].removesuffix(SUFFIX)}/{pod['uid']}"
            found[key] = {name: pod[name] for name in ("phase", "reason", "message", "ready")}
            for one in pod["containers"]:
                last = one["last_exit"]
                found[f"{key}/{one['name']}"] = {
                    "state": one["state"] or "none",
                    **{name: one[name] for name in ("reason", "message", "exit_code", "ready", "started")},
                    "restarts": one["restart_count"],
                    "last": [last["reason"], last["exit_code"], last["message"]] if last else None,
                }
        return found

    def events(self) -> list[dict[str, Any]]:
        try:
            kept = Client(self.folder / "state").events()
        except NotRunningError:
            return []
        return [
            {
                "pod": event["object"].split("/")[-1].removesuffix(SUFFIX),
                "field": event["field_path"],
                **{name: event[name] for name in ("type", "reason", "message", "count")},
            }
            for event in kept
        ]
