"""What the runtime got about a pod: sandbox, labels, annotations, mounts, OCI specs, the environment of a process."""

import json
import re
from typing import Any

from tests.kubelet.beside.facts.fact import Fact
from tests.kubelet.beside.seen.instance import Instance
from tests.kubelet.beside.seen.side import Side
from tests.kubelet.beside.seen.text import text
from tests.kubelet.beside.sides.agent import SUFFIX


def facts(side: Side, other: Side, pod: str) -> list[Fact]:
    """Of the first instance of each container, and of the first sandbox."""
    found = []
    theirs = other.of(pod)
    for name, rows in side.of(pod).items():
        if name in theirs:
            found += _of_container(name, rows[0])
            if rows[0].spec and theirs[name][0].spec:
                found += _of_spec(name, rows[0].spec)
    boxes = [box for box in side.sandboxes.values() if box["metadata"]["name"].removesuffix(SUFFIX) == pod]
    return found + (_of_sandbox(boxes[0]) if boxes else [])


def _of_container(name: str, one: Instance) -> list[Fact]:
    status = one.status
    path = re.sub(r".*/podlogs/", "", status.get("log_path", "")).replace(one.uid, "UID")
    found = [
        Fact(f"{name}: labels", _pairs(status.get("labels", {}))),
        Fact(f"{name}: annotations", _pairs(status.get("annotations", {}))),
        Fact(f"{name}: mounts", sorted(mount["container_path"] for mount in status.get("mounts", []))),
        Fact(f"{name}: log path", text(path)),
        Fact(f"{name}: image", status.get("image", {}).get("image", "")),
    ]
    start = next((note for note in one.notes if note["what"] == "start"), None)
    if start is not None:
        found.append(Fact(f"{name}: environment", [text(row) for row in start["environment"]]))
        found.append(Fact(f"{name}: host name", start["hostname"]))
    return found


def _of_spec(name: str, spec: dict[str, Any]) -> list[Fact]:
    process, linux = spec.get("process", {}), spec.get("linux", {})
    capabilities = process.get("capabilities", {})
    cgroup = re.sub(r"[0-9a-f-]{32,}", "ID", re.sub(r"^/beside-[^/]+", "", linux.get("cgroupsPath", "")))
    return [
        Fact(f"{name}: OCI masked paths", sorted(linux.get("maskedPaths", []))),
        Fact(f"{name}: OCI read-only paths", sorted(linux.get("readonlyPaths", []))),
        Fact(f"{name}: OCI capabilities", {kind: sorted(names) for kind, names in sorted(capabilities.items())}),
        Fact(f"{name}: OCI user", process.get("user")),
        Fact(f"{name}: OCI noNewPrivileges", bool(process.get("noNewPrivileges"))),
        Fact(f"{name}: OCI seccomp", bool(linux.get("seccomp"))),
        Fact(f"{name}: OCI command", process.get("args")),
        Fact(f"{name}: OCI working directory", process.get("cwd")),
        Fact(f"{name}: OCI read-only root", bool(spec.get("root", {}).get("readonly"))),
        Fact(f"{name}: OCI namespaces", sorted(one["type"] for one in linux.get("namespaces", []))),
        Fact(f"{name}: OCI OOM score", process.get("oomScoreAdj")),
        Fact(f"{name}: OCI memory", linux.get("resources", {}).get("memory", {}).get("limit")),
        Fact(f"{name}: OCI CPU shares", linux.get("resources", {}).get("cpu", {}).get("shares")),
        Fact(f"{name}: OCI cgroup", cgroup),
    ]


def _of_sandbox(box: dict[str, Any]) -> list[Fact]:
    config = json.loads(box["info"].get("info", "{}")).get("config", {})
    return [
        Fact("sandbox: name", box["metadata"]["name"]),
        Fact("sandbox: host name", config.get("hostname", "")),
        Fact("sandbox: labels", _pairs(box.get("labels", {}))),
        Fact("sandbox: annotations", _pairs(box.get("annotations", {}))),
        Fact("sandbox: DNS", config.get("dns_config", {})),
        Fact("sandbox: log directory", text(re.sub(r".*/podlogs/", "", config.get("log_directory", "")))),
        Fact("sandbox: Linux", _of_linux(config.get("linux", {}))),
    ]


def _of_linux(config: dict[str, Any]) -> dict[str, Any]:
    """What a sandbox asks of Linux, apart from its cgroup and resources."""
    return {"security": config.get("security_context", {}), "sysctls": config.get("sysctls", {})}


def _pairs(found: dict[str, str]) -> list[str]:
    return sorted(f"{key}={_value(key, value)}" for key, value in found.items())


def _value(key: str, value: str) -> str:
    if key.endswith((".hash", "config.seen")):
        return "another for each agent"
    return text(value)
