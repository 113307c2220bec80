"""The pages of metrics of a busy node: the number of series is limited, and docs/metrics.md describes each of them."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace
from probelet._rust import Engine
from probelet.daemon.asked_hosts import asked_hosts
from probelet.policy.node.restart_gate import RestartGate
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.seen.runtime_calls import RuntimeCalls
from probelet.server.address import Address, listening_socket
from probelet.server.pages.server import HttpServer
from probelet.spec.annotation.probe_options import fold_options
from probelet.spec.model.probe_options import ProbeOptions

from tests.support.paths import ROOT
from tests.unit.node.scripted_node import ScriptedNode, make_manifest, served_node
from tests.unit.node.scripted_runtime import ScriptedRuntime

EXEC = {"exec": {"command": ["probe"]}, "periodSeconds": 1, "failureThreshold": 1}
TCP = {"tcpSocket": {"port": 1}, "periodSeconds": 1}
SAMPLE = re.compile(r"^(?P<name>\w+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)$")
LABEL = re.compile(r'(\w+)="([^"]*)"')


@dataclass
class Family:
    kind: str
    labels: set[str] = field(default_factory=set)
    samples: set[str] = field(default_factory=set)


def families(page: bytes) -> dict[str, Family]:
    """The families of a page by the name after ``# TYPE``. Raises on a line that Prometheus would refuse."""
    found: dict[str, Family] = {}
    helped = ""
    for line in page.decode().splitlines():
        if line.startswith("# HELP "):
            helped = line.split()[2]
            assert line.endswith("."), line
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert name == helped, f"{name} has no help of its own"
            assert name not in found, f"{name} comes twice"
            found[name] = Family(kind)
        else:
            sample = SAMPLE.match(line)
            assert sample, line
            float(sample["value"])
            family = found[helped]
            stem = sample["name"]
            if family.kind == "histogram":
                stem = re.sub(r"_(bucket|sum|count)$", "", stem)
            assert stem == helped, line
            labels = dict(LABEL.findall(sample["labels"] or ""))
            family.labels |= labels.keys() - {"le"}
            series = sample["name"] + str(sorted(labels.items()))
            assert series not in family.samples, f"twice: {line}"
            family.samples.add(series)
    return found


@pytest.fixture
async def node(runtime: ScriptedRuntime, gate: RestartGate, tmp_path: Path) -> AsyncIterator[ScriptedNode]:
    """A node with a journal and a flight recorder, because only with the opt-ins there are the series of both."""
    recorder = (tmp_path / "flight-recorder", 1 << 20, "node")
    engine = Engine(start_jitter=False, journal=(tmp_path / "journal", gate.table), recorder=recorder)
    async with served_node(
        runtime, gate, tmp_path, engine=engine, root=tmp_path / "root", incidents=asked_hosts
    ) as node:
        yield node


@pytest.fixture
async def busy(node: ScriptedNode, runtime: ScriptedRuntime) -> ScriptedNode:
    """A node on which probes have passed and failed, some between the ordinary ones, and a container was killed and
    restarted."""
    runtime.exec_answers["probe",] = api_pb2.ExecSyncResponse(exit_code=1)
    containers = [{"name": "app", "image": "i", "livenessProbe": EXEC, "readinessProbe": TCP}]
    manifest = make_manifest(containers=containers)
    pod, _ = fold_options(manifest.pod, {"readiness": ProbeOptions(when_failing_milliseconds=100)})
    node.service.pods.set([replace(manifest, pod=pod)])
    await node.until(lambda: node.container()["restart_count"] >= 1 if node.pod()["containers"] else False)
    runtime.exec_answers["probe",] = api_pb2.ExecSyncResponse()
    await node.until(lambda: b'result="successful"' in node.service.view.metrics_probes())
    await node.until(lambda: b"probelet_extra_runs_total" in node.service.view.metrics())
    return node


def described(page: Path, section: str) -> dict[str, tuple[str, set[str]]]:
    """Type and labels of each series in the table of ``section`` in docs/metrics.md."""
    text = page.read_text().split(f"## `{section}`\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \| (.+) \|$", text, re.MULTILINE)
    return {name: (kind, set(re.findall(r"`(\w+)`", labels))) for name, kind, labels, _ in rows}


async def pages(node: ScriptedNode) -> dict[str, dict[str, Family]]:
    """The pages of the server, ``/metrics`` from the second request, because its series count the first one.

    A call of the runtime is added, because the client of this node has no observer.
    """
    calls = RuntimeCalls()
    calls.observe("version", 0.1, None)
    listening = listening_socket(Address("127.0.0.1", 0))
    server = HttpServer(node.service.view, listening)
    await server.start()
    found: dict[str, dict[str, Family]] = {}
    try:
        for path in ("/metrics", "/metrics", "/metrics/pods", "/metrics/probes"):
            reader, writer = await asyncio.open_connection(*listening.sock.getsockname())
            writer.write(f"GET {path} HTTP/1.0\r\n\r\n".encode())
            _, _, body = (await reader.read()).partition(b"\r\n\r\n")
            writer.close()
            found[path] = families(body.replace(RuntimeCalls().render(), calls.render()))
    finally:
        await server.close()
    return found


async def test_the_documentation_has_every_series_and_no_other(busy: ScriptedNode) -> None:
    for path, shown in (await pages(busy)).items():
        in_page = {name: (found.kind, found.labels) for name, found in shown.items()}
        assert described(ROOT / "docs" / "metrics.md", path) == in_page, path


async def test_the_number_of_series_does_not_grow_with_pods(busy: ScriptedNode) -> None:
    before = families(busy.service.view.metrics())
    containers = [{"name": "app", "image": "i", "livenessProbe": EXEC, "readinessProbe": TCP}]
    more = [make_manifest(f"more-{number}", containers=containers) for number in range(20)]
    busy.service.pods.set([make_manifest(containers=containers), *more])
    await busy.until(lambda: all(busy.pod(f"more-{number}")["phase"] == "Running" for number in range(20)))
    await busy.until(
        lambda: b'more-19",pod_uid="uid-more-19",probe_type="Liveness"' in busy.service.view.metrics_probes()
    )
    after = families(busy.service.view.metrics())
    assert {name: found.samples for name, found in after.items()} == {
        name: found.samples for name, found in before.items()
    }
    assert b"more-" not in busy.service.view.metrics()


def dashboard_queries() -> list[str]:
    dashboard = json.loads((ROOT / "deploy" / "grafana" / "probelet.json").read_text())
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    variables = [variable["query"] for variable in dashboard["templating"]["list"] if variable["type"] == "query"]
    return [*variables, *(target["expr"] for panel in dashboard["panels"] for target in panel["targets"])]


def alert_rules() -> list[str]:
    groups = yaml.safe_load((ROOT / "deploy" / "prometheus" / "alerts.yaml").read_text())["groups"]
    return [rule["expr"] for group in groups for rule in group["rules"]]


@pytest.mark.parametrize("queries", [dashboard_queries, alert_rules])
async def test_a_query_selects_series_labels_and_values_that_exist(
    busy: ScriptedNode, queries: Callable[[], list[str]]
) -> None:
    found = {name: family for shown in (await pages(busy)).values() for name, family in shown.items()}
    asked = 0
    for query in queries():
        grouped = {label for by in re.findall(r"(?:by|on) \(([^)]*)\)", query) for label in by.split(", ")}
        known = {"instance", "le"}
        for name, selector in re.findall(r"\b((?:kube|kubelet|probelet|prober|process)_\w+)(?:\{([^}]*)\})?", query):
            family = found.get(name) or found[re.sub(r"_(bucket|sum|count)$", "", name)]
            known |= family.labels
            asked += 1
            for label, values in re.findall(r'(\w+)(?:=~|!=|=)"([^"]*)"', selector):
                if label not in ("instance", "job"):
                    # A closed list has all its values from the start; a misspelt one would select nothing in silence.
                    for value in values.split("|"):
                        assert any(f"('{label}', '{value}')" in sample for sample in family.samples), (query, value)
        assert grouped <= known, query
    assert asked > 10


async def test_runs_are_counted_by_type_and_result(busy: ScriptedNode) -> None:
    page = busy.service.view.metrics().decode()
    counts = dict(re.findall(r"^probelet_probe_runs_total\{(.*)\} (\d+)$", page, re.MULTILINE))
    assert len(counts) == 9
    assert int(counts['probe_type="Liveness",result="failed"']) >= 1
    assert int(counts['probe_type="Readiness",result="failed"']) >= 1
    assert counts['probe_type="Startup",result="successful"'] == "0"
