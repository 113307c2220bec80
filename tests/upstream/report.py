"""Reads a run: ginkgo's report and the notes about the pods become one row for each test."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.cluster.control_plane.api import Object
from tests.cluster.record.notes import read as read_notes
from tests.upstream.row import Probes, Row
from tests.upstream.run import LOG, PODS, REPORT

LABEL = re.compile(r"\s*\[[^\]]*\]")
NAMESPACE = re.compile(r'Destroying namespace "([^"]+)"')
KINDS = ("livenessProbe", "readinessProbe", "startupProbe")
TAKEN, CONTEXT, STAYED = (
    "probelet.dev/probes",
    "apps.kruise.io/container-probe-context",
    "probelet.dev/not-taken-over",
)
FAILURE_MAX = 400
"""Characters of a failure that the row keeps."""


class UnfinishedError(RuntimeError):
    """The run says nothing about tests that it did not come to; one line."""


def read(folder: Path) -> list[Row]:
    """The rows of a run, by test. Raises UnfinishedError for a run that was cut short, or that played no test."""
    (suite,) = json.loads((folder / REPORT).read_text())
    if reasons := suite.get("SpecialSuiteFailureReasons"):
        raise UnfinishedError(f"{'; '.join(reasons)} ({folder / LOG})")
    pods = last_seen(read_notes(folder / PODS))
    specs = [one for one in suite["SpecReports"] if one["LeafNodeType"] == "It"]
    rows = [row_of(one, pods) for one in specs if one["State"] not in ("skipped", "pending")]
    if not rows:
        raise UnfinishedError(f"no test was played ({folder / LOG})")
    return sorted(rows, key=lambda row: (row.group, row.test))


def last_seen(notes: Iterable[Object]) -> dict[str, list[Object]]:
    """Each pod as it was last seen, by namespace."""
    pods = {note["object"]["metadata"]["uid"]: note["object"] for note in notes}
    by_namespace = defaultdict(list)
    for pod in pods.values():
        by_namespace[pod["metadata"]["namespace"]].append(pod)
    return by_namespace


def row_of(spec: dict[str, Any], pods: dict[str, list[Object]]) -> Row:
    texts = [*(spec["ContainerHierarchyTexts"] or []), spec["LeafNodeText"]]
    first, *others = (text for one in texts if (text := LABEL.sub("", one).strip()))
    words = [spec.get("CapturedGinkgoWriterOutput", "")]
    words += [one.get("Message", "") for one in spec.get("SpecEvents") or []]
    namespaces = {name for text in words for name in NAMESPACE.findall(text)}
    own = [pod for name in sorted(namespaces) for pod in pods.get(name, [])]
    return Row(
        group=first,
        test=" / ".join(others),
        state=spec["State"],
        seconds=round(spec["RunTime"] / 1e9, 1),
        probes=probes_of(own),
        stayed=sorted({reason for pod in own if (reason := annotation(pod, STAYED))}),
        failure=(spec.get("Failure") or {}).get("Message", "")[:FAILURE_MAX],
    )


def probes_of(pods: Iterable[Object]) -> Probes:
    """Who made the probes of these pods. Beside an agent, a startup probe is always the kubelet's."""
    native = taken = enhanced = 0
    for pod in pods:
        spec = pod["spec"]
        for container in [*spec.get("initContainers", []), *spec["containers"]]:
            native += sum(kind in container for kind in KINDS)
        taken += sum(len(kinds) for kinds in json.loads(annotation(pod, TAKEN) or "{}").values())
        enhanced += len(json.loads(annotation(pod, CONTEXT) or "[]"))
    return Probes(native, taken, enhanced)


def annotation(pod: Object, name: str) -> str:
    return str(pod["metadata"].get("annotations", {}).get(name, ""))
