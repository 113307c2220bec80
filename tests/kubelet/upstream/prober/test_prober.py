"""kubelet prober/prober_test.go, 1.36: rows P5, P6, P8 to P11, P13, P14, and what a script can answer of P7."""

from typing import Any

import msgspec
import pytest
from probelet._rust import Simulation

from tests.kubelet.upstream.ask import ask, closed_port
from tests.kubelet.upstream.manager import Manager, container, running
from tests.kubelet.upstream.row import row
from tests.kubelet.upstream.worker import ID, TYPES, UID, ProbeType, Worker, exec_probe, pod
from tests.support.web import Server


@row("P5")
def test_a_missing_probe_has_no_worker_and_counts_as_success(row: str) -> None:
    manager = Manager()
    manager.define("pod", [container("main", "liveness")])
    manager.add("pod")
    assert manager.workers == {"pod/main/liveness"}
    filled = manager.update("pod", running("main"))["main"]
    assert (filled["started"], filled["ready"]) == (True, True), "as if both had succeeded"


def one_run(spec: dict[str, Any], probe_type: ProbeType = "liveness", *, sockets: bool = False) -> Simulation:
    """A simulation after the first run of its only probe: upstream's test probe with the fields of ``spec``."""
    simulation = Simulation(glue="none", sockets=sockets)
    probe = {key: value for key, value in exec_probe().items() if key != "exec"} | spec
    body = {"name": "foo", f"{probe_type}Probe": probe}
    simulation.define_pod(pod(containers=[body]))
    row = running("foo", ID, started=probe_type != "startup")
    status = {"phase": "Running", "pod_ip": "127.0.0.1", "containers": [row]}
    simulation.set_pod_status(UID, msgspec.json.encode(status))
    simulation.add_pod(UID)
    simulation.run_until(500)
    return simulation


def events(simulation: Simulation) -> list[tuple[str, str, str]]:
    lines = msgspec.json.decode(simulation.take_records())
    return [(line["type"], line["reason"], line["message"]) for line in lines if line["section"] == "events"]


@row("P6")
def test_a_probe_without_a_handler_is_a_prober_error(row: str) -> None:
    simulation = one_run({}, sockets=True)
    assert simulation.runs == 1
    assert simulation.result("liveness", ID) == "Success", "the initial value: an error counts for nothing"
    ((_, reason, message),) = events(simulation)
    assert reason == "Unhealthy"
    assert message.startswith("Liveness probe errored and resulted in unknown state: missing probe handler")


@pytest.mark.parametrize(
    ("outcome", "cached"),
    [pytest.param("failure", "Failure", id="P7-failure"), pytest.param("success", "Success", id="P7-success")],
)
@pytest.mark.parametrize("probe_type", TYPES)
def test_an_answer_becomes_the_cached_result(outcome: str, cached: str, probe_type: ProbeType) -> None:
    worker = Worker(probe_type)
    worker.status()
    assert worker.after(outcome) == [cached]


@pytest.mark.parametrize("probe_type", [pytest.param(each, id=f"P8-{each}") for each in TYPES])
def test_a_prober_error_leaves_the_cached_result(probe_type: ProbeType) -> None:
    worker = Worker(probe_type)
    worker.status()
    before = {"liveness": "Success", "readiness": "Failure", "startup": "Unknown"}[probe_type]
    assert worker.after("error", "error") == [before, before]
    assert worker.runs == 6, "three tries a run"


@row("P9-666")
def test_an_unknown_probe_type_is_refused(row: str) -> None:
    with pytest.raises(ValueError, match='"666": must be one of liveness, readiness, startup'):
        Simulation().result("666", ID)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("command", "env", "ran"),
    [
        pytest.param(
            ["/bin/bash", "-c", "some script"],
            [],
            ["/bin/bash", "-c", "some script"],
            id="P10",
        ),
        pytest.param(
            ["/bin/bash", "-c", "some $(A) $(B)"],
            [{"name": "A", "value": "script"}],
            ["/bin/bash", "-c", "some script $(B)"],
            id="P11",
        ),
    ],
)
def test_a_command_runs_with_its_variables_expanded(
    command: list[str], env: list[dict[str, str]], ran: list[str]
) -> None:
    worker = Worker("liveness", probe={"exec": {"command": command}}, container={"env": env})
    worker.status()
    worker.do_probe()
    (line,) = [line for line in worker.records if line["section"] == "probes"]
    assert line["command"] == ran


HANDLERS = {
    "httpGet": lambda port: {"httpGet": {"port": port, "path": "/"}},
    "tcpSocket": lambda port: {"tcpSocket": {"port": port}},
    "grpc": lambda port: {"grpc": {"port": port}},
}


@pytest.mark.e2e
@pytest.mark.parametrize("handler", [pytest.param(each, id=f"P13-{each}") for each in HANDLERS])
def test_every_socket_handler_runs(handler: str) -> None:
    cause = ask({**HANDLERS[handler](closed_port()), "timeoutSeconds": 1})["cause"]
    assert cause == ("connect_timeout" if handler == "grpc" else "refused")


@row("P13-exec")
def test_the_exec_handler_runs(row: str) -> None:
    worker = Worker("liveness")
    worker.status()
    worker.do_probe()
    assert worker.runs == 1


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("probe_type", "title"),
    [pytest.param(each, each.capitalize(), id=f"P7-P14-{each}") for each in TYPES],
)
def test_a_warning_is_a_success_and_an_event(probe_type: ProbeType, title: str) -> None:
    with Server(lambda request: (302, {"Location": "http://192.0.2.1/"}, "probe output")) as server:
        simulation = one_run({"httpGet": {"port": server.port, "path": "/"}}, probe_type, sockets=True)
    assert simulation.result(probe_type, ID) == "Success"
    text = f"{title} probe warning: Probe terminated redirects, Response body: probe output"
    assert events(simulation) == [("Warning", "ProbeWarning", text)]
