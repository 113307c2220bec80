"""The restart decision by itself: how many decisions a second, and how much memory a pod takes."""

import gc
import os
import time
from pathlib import Path
from typing import Any

from probelet.beside.guard.objects.node import GuardedNode
from probelet.beside.guard.objects.node_probes import NodeProbes, read_node_probes
from probelet.beside.guard.objects.pod import read_pod
from probelet.beside.guard.restart.guard import Guard
from probelet.beside.guard.restart.protocol.inputs import (
    Configured,
    NodeChanged,
    PodChanged,
    ProbesChanged,
    Synced,
    WallClock,
)
from probelet.beside.guard.restart.protocol.outputs import Decision
from probelet.beside.guard.restart.settings.config import Config

from benches.controller import load


def rss_mib() -> float:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def measured(nodes: int, entries: int = load.ENTRIES) -> dict[str, Any]:
    """Shows a guard so many nodes, then publishes a failure of every tenth pod, node by node."""
    gc.collect()
    before = rss_mib()
    guard, began = Guard(), "2026-01-01T00:00:00Z"
    guard.handle(0, WallClock(time.time_ns()))
    guard.handle(0, Configured(Config()))
    objects = []
    for index in range(nodes):
        guard.handle(0, NodeChanged(load.node_name(index), GuardedNode(load.node_name(index))))
        rows = []
        for number in range(entries):
            uid = index * entries + number
            made = load.pod(uid, nodes)
            made["metadata"]["uid"] = str(uid)
            made["spec"]["nodeName"] = load.node_name(index)
            found = read_pod({**made, "status": load.pod_status(uid, began)})
            guard.handle(0, PodChanged(str(uid), found))
            name = made["metadata"]["name"]
            probes = [{"name": f"{name}-app", "containerName": "app", "probe": load.PROBE}]
            rows.append({"name": name, "namespace": "default", "uid": str(uid), "IP": "10.0.0.1", "probes": probes})
        objects.append(_object(index, rows, failing=0))
        guard.handle(0, ProbesChanged(load.node_name(index), _read(objects[-1])))
    guard.handle(0, Synced(True))
    gc.collect()
    rss = rss_mib() - before
    failing = [_read(_object(index, obj["spec"]["podProbes"], failing=10)) for index, obj in enumerate(objects)]
    began_s, decisions = time.perf_counter(), 0
    for index, failed in enumerate(failing):
        outputs = guard.handle(index + 1, ProbesChanged(load.node_name(index), failed))
        decisions += sum(isinstance(each, Decision) for each in outputs)
    seconds = time.perf_counter() - began_s
    return {
        "nodes": nodes,
        "pods": nodes * entries,
        "rss_mib": round(rss, 1),
        "decisions": decisions,
        "decisions_a_second": round(decisions / seconds),
        "statuses_a_second": round(nodes / seconds),
    }


def _object(index: int, rows: list[dict[str, Any]], *, failing: int) -> dict[str, Any]:
    """A NodePodProbe. With ``failing`` 10 every tenth pod fails."""
    failed = [row for number, row in enumerate(rows) if failing and number % failing == 0]
    good = [row for number, row in enumerate(rows) if not failing or number % failing]
    status = [*load.statuses(good), *load.statuses(failed, "Failed")]
    meta = {"name": load.node_name(index)}
    return {"metadata": meta, "spec": {"podProbes": rows}, "status": {"podProbeStatuses": status}}


def _read(obj: dict[str, Any]) -> NodeProbes:
    return read_node_probes(obj, "seed")
