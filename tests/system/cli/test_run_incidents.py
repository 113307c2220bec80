"""Incidents with real processes: one server that several workloads ask becomes slow, one container fails alone."""

import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import yaml
from probelet.server.control.client import Client

from tests.support.paths import ROOT
from tests.support.web import Reply, Request, Server
from tests.system.cli.conftest import Run, Start, probelet, wait_for

pytestmark = pytest.mark.e2e


EXAMPLE = ROOT / "examples" / "incidents"


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as sock:
        sock.bind(("", 0))
        number: int = sock.getsockname()[1]
    return number


class Database:
    """A server that answers at once, or not at all while it is slow."""

    def __init__(self) -> None:
        self.is_quick = threading.Event()
        self.is_quick.set()
        self._server = Server(self._answer)

    def _answer(self, request: Request) -> Reply:
        self.is_quick.wait()
        return 200, {}, "ok"

    def __enter__(self) -> "Database":
        self._server.__enter__()
        self.address = f"127.0.0.1:{self._server.port}"
        self.port = self._server.port
        return self

    def __exit__(self, *given: Any) -> None:
        self.is_quick.set()
        self._server.__exit__(*given)


class Alertmanager(ThreadingHTTPServer):
    """A server that notes the alerts that it gets."""

    def __init__(self) -> None:
        self.alerts: list[dict[str, Any]] = []
        super().__init__(("127.0.0.1", 0), self._handler())

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        alerts = self.alerts

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                alerts.extend(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *given: Any) -> None:
                pass

        return Handler

    def __enter__(self) -> "Alertmanager":
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *given: Any) -> None:
        self.shutdown()
        self.server_close()


@pytest.fixture
def alertmanager() -> Iterator[Alertmanager]:
    with Alertmanager() as server:
        yield server


@pytest.fixture
def database() -> Iterator[Database]:
    with ExitStack() as stack:
        yield stack.enter_context(Database())


def deployment(name: str, **container: Any) -> dict[str, Any]:
    app = {"name": "app", "command": ["sleep", "1000"], **container}
    spec = {"terminationGracePeriodSeconds": 1, "containers": [app]}
    template = {"metadata": {"labels": {"app": name}}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": template},
    }


def every_second(**handler: Any) -> dict[str, Any]:
    """A probe whose timeout no busy machine reaches."""
    return {"periodSeconds": 1, "timeoutSeconds": 30, **handler}


def asking(database: Database) -> dict[str, Any]:
    """A probe that the database's slowness fails; it is the prober's own only if that is half a second late."""
    action = {"host": "127.0.0.1", "port": database.port, "path": "/"}
    return {"periodSeconds": 2, "timeoutSeconds": 2, "httpGet": action}


WELL = every_second(exec={"command": ["true"]})


def started(start: Start, folder: Path, *workloads: dict[str, Any], flags: Sequence[str] = ()) -> Run:
    path = folder / "pods.yaml"
    path.write_text(yaml.safe_dump_all(workloads))
    run = start(str(path), *flags)
    run.line("listening")
    wait_for(lambda: (pods := run.status()) and all(pod["ready"] for pod in pods.values()), "all pods to be ready")
    return run


def incidents(run: Run) -> dict[str, Any]:
    """The document of ``probelet incidents``, from the control socket, which costs no start of the interpreter."""
    return Client(run.state_dir).incidents()


def open_incident(run: Run, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = wait_for(
        lambda: next((each for each in incidents(run)["open"] if each["kind"] == kind), None),
        f"an open incident of kind {kind}",
    )
    return found


def test_a_slow_server_that_three_workloads_ask_is_one_incident(
    start: Start, tmp_path: Path, database: Database, alertmanager: Alertmanager
) -> None:
    config = tmp_path / "probelet.yaml"
    head = "apiVersion: probelet.dev/v1alpha1\nkind: ProbeletConfiguration\n"
    config.write_text(f"{head}incidentWebhook: http://127.0.0.1:{alertmanager.server_port}/api/v2/alerts\n")
    askers = [deployment(name, readinessProbe=asking(database)) for name in ("cart", "orders", "web")]
    others = [deployment(name, readinessProbe=WELL) for name in ("mail", "search", "stock")]
    run = started(start, tmp_path, *askers, *others, flags=("--config", str(config)))
    assert "no incident is open" in run.verb("incidents").stdout

    database.is_quick.clear()
    found = open_incident(run, "shared")
    assert (found["shared"], found["value"], found["cause"]) == ("target", database.address, "header_timeout")
    assert found["counts"]["workloads"] == 3
    assert database.address in found["evidence"]
    assert f"incident: shared target {database.address}" in run.verb("status").stdout
    text = run.verb("incidents")
    assert text.returncode == 1
    answer = run.verb("incidents", "-o", "json")
    assert (answer.returncode, json.loads(answer.stdout)["open"][0]["id"]) == (1, found["id"])
    assert text.stdout.startswith(f"shared target {database.address}, for ")
    with urlopen(f"{run.url}/metrics") as page:
        assert b'probelet_incident_open{kind="shared"} 1' in page.read()
    with urlopen(f"{run.url}/heartbeats") as page:
        data = json.load(page)
    assert data["open"][0]["text"].startswith(f"shared target {database.address}, for ")
    failing = {row["name"].partition("-")[0] for row in data["rows"] if row["rank"] < 2}
    assert failing == {"cart", "orders", "web"}

    database.is_quick.set()
    ended = wait_for(lambda: (now := incidents(run)) and not now["open"] and now["ended"], "the end of the incident")
    assert [each["id"] for each in ended] == [found["id"]]
    events = [json.loads(line) for line in run.verb("events", "-o", "json").stdout.splitlines()]
    said = [(event["type"], event["reason"]) for event in events if event["reason"].startswith("Incident")]
    assert said == [("Warning", "IncidentBegan"), ("Normal", "IncidentEnded")]
    told = ("shared", database.address, ended[0]["ended"])
    wait_for(
        lambda: (
            told
            in [(each["labels"]["kind"], each["labels"].get("value"), each["endsAt"]) for each in alertmanager.alerts]
        ),
        "the end of the alert",
    )


def test_the_example_names_what_is_shared(start: Start, tmp_path: Path) -> None:
    # The example has a port and a file of the machine, which other tests and people may use.
    slow, port = tmp_path / "slow", free_port()
    server = (EXAMPLE / "database.py").read_text().replace("/tmp/slow", str(slow)).replace("5432", str(port))
    (tmp_path / "database.py").write_text(server)
    pods = (EXAMPLE / "pods.yaml").read_text().replace("5432", str(port))
    path = tmp_path / "pods.yaml"
    path.write_text(pods.replace("examples/incidents/database.py", str(tmp_path / "database.py")))
    run = start(str(path))
    run.line("listening")
    wait_for(lambda: (found := run.status()) and all(pod["ready"] for pod in found.values()), "all pods to be ready")
    slow.touch()
    found = open_incident(run, "shared")
    assert (found["shared"], found["value"]) == ("target", f"127.0.0.1:{port}")
    with urlopen(f"{run.url}/heartbeats") as page:
        assert json.load(page)["open"][0]["text"].startswith(f"shared target 127.0.0.1:{port}, for ")
    asked = probelet("incidents", "--url", run.url)
    assert asked.stdout.startswith(f"shared target 127.0.0.1:{port}, for ")
    slow.unlink()
    wait_for(lambda: not incidents(run)["open"], "the end of the incident")


def test_a_container_that_fails_alone_is_that_container_until_it_is_restarted(
    start: Start, tmp_path: Path, database: Database
) -> None:
    works = tmp_path / "works"
    container = {
        "command": ["sh", "-c", f"touch {works}; exec sleep 1000"],
        "livenessProbe": every_second(exec={"command": ["test", "-e", str(works)]}),
    }
    others = [deployment(name, readinessProbe=asking(database)) for name in ("cart", "orders", "web")]
    run = started(start, tmp_path, deployment("worker", **container), *others)
    follower = run.verb("incidents", "--follow", "--duration", "1s")
    assert (follower.returncode, follower.stdout) == (0, "")

    wait_for(works.exists, "the container's start")
    works.unlink()
    ended = wait_for(lambda: incidents(run)["ended"], "the end of an incident")
    [found] = ended
    assert (found["kind"], found["shared"], found["killed"], found["killed_for_nothing"]) == (
        "container",
        "container",
        1,
        0,
    )
    assert found["value"].startswith("default/worker")
    assert "in the only pod" in found["evidence"]


def test_a_container_that_ends_again_and_again_is_that_container(start: Start, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    command = ["sh", "-c", f"while [ ! -e {broken} ]; do sleep 0.1; done; exit 3"]
    others = [deployment(name, readinessProbe=WELL) for name in ("cart", "orders", "web")]
    run = started(start, tmp_path, deployment("worker", command=command, readinessProbe=WELL), *others)
    broken.touch()
    assert open_incident(run, "container")["value"].startswith("default/worker")


def test_incidents_can_be_turned_off(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("apiVersion: probelet.dev/v1alpha1\nkind: ProbeletConfiguration\nincidents: false\n")
    path = tmp_path / "pods.yaml"
    path.write_text(yaml.safe_dump(deployment("web", readinessProbe=WELL)))
    run = start(str(path), "--config", str(file))
    run.line("listening")
    answer = run.verb("incidents")
    assert answer.returncode == 3
    assert "incidents: false" in answer.stderr
    assert "incident" not in run.verb("status", "-o", "json").stdout
