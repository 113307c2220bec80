"""Which containers a stand-in plays, and what becomes of the rest of their pod."""

import sys
from pathlib import Path

import pytest
from probelet.runtime.embedded.stand_in.plan import Behaviour, Plan, Port, decode
from probelet.runtime.embedded.stand_in.pod import DONE, with_stand_ins
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.read.load import read_pods
from probelet.spec.read.objects import Rules

HEAD = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n"


def pod(text: str) -> Pod:
    (found,) = read_pods(Path("web.yaml"), HEAD + text, Rules()).pods
    return found.pod


def placed(text: str) -> tuple[Pod, list[str]]:
    return with_stand_ins(pod(text), "web", lambda workload, container: Behaviour())


def plan(container: Container) -> Plan:
    assert container.command[:4] == [sys.executable, "-P", "-m", "probelet.runtime.embedded.stand_in"]
    return decode(container.command[4])


def test_a_stand_in_serves_the_ports_of_its_container_and_of_its_probes() -> None:
    made, names = placed("""
  containers:
  - name: app
    image: registry.example/app:1
    ports: [{name: http, containerPort: 8080}, {containerPort: 53, protocol: UDP}]
    livenessProbe: {httpGet: {port: http, host: 127.0.0.1}}
    readinessProbe: {httpGet: {port: 8443, scheme: HTTPS}}
    startupProbe: {exec: {command: [app, ready]}}
""")
    (container,) = made.spec.containers
    assert names == ["app"]
    assert plan(container).ports == [Port(8080), Port(8443, is_tls=True)]
    assert plan(container).commands == ["startup"]
    assert container.liveness_probe is not None
    assert container.liveness_probe.http_get is not None
    assert container.liveness_probe.http_get.host == ""
    assert container.startup_probe is not None
    assert container.startup_probe.exec is not None
    assert container.startup_probe.exec.command[:2] == ["/bin/sh", "-c"]


def test_a_port_has_tls_in_whichever_container_of_the_pod_it_is() -> None:
    made, _ = placed("""
  containers:
  - {name: router, image: router, startupProbe: {httpGet: {port: 9141, scheme: HTTPS}}}
  - {name: exporter, image: exporter, ports: [{containerPort: 9141}, {containerPort: 9142}]}
""")
    ports = {container.name: plan(container).ports for container in made.spec.containers}
    assert ports == {"router": [Port(9141, is_tls=True)], "exporter": [Port(9141, is_tls=True), Port(9142)]}


def test_nothing_of_a_played_container_runs_or_is_looked_for() -> None:
    made, _ = placed("""
  hostNetwork: true
  containers:
  - name: app
    image: registry.example/app:1
    command: [sh, -c, "rm -rf /data; exec app"]
    args: [--port=80]
    workingDir: /srv/app
    env: [{name: TOKEN, valueFrom: {secretKeyRef: {name: away, key: token}}}]
    envFrom: [{configMapRef: {name: away}}]
    lifecycle: {preStop: {exec: {command: [app, stop]}}, postStart: {sleep: {seconds: 1}}}
""")
    (container,) = made.spec.containers
    assert plan(container).name == "web/app"
    assert (container.args, container.working_dir, container.env_from) == ([], "", [])
    assert [entry.name for entry in container.env] == ["PYTHONPATH"]
    assert container.lifecycle is not None
    assert container.lifecycle.pre_stop is not None
    assert container.lifecycle.pre_stop.exec is not None
    assert container.lifecycle.pre_stop.exec.command == [DONE]
    assert container.lifecycle.post_start is not None
    assert container.lifecycle.post_start.sleep is not None
    assert not made.spec.host_network


def test_work_that_ends_is_done_at_once_and_a_sidecar_runs_on() -> None:
    made, names = placed("""
  initContainers:
  - {name: migrate, image: app, command: [migrate]}
  - {name: proxy, image: proxy, restartPolicy: Always}
  containers:
  - {name: app, image: app}
""")
    migrate, proxy = made.spec.init_containers
    assert names == ["migrate", "proxy", "app"]
    assert migrate.command == [DONE]
    assert plan(proxy).name == "web/proxy"
    job, _ = placed("  restartPolicy: Never\n  containers: [{name: app, image: app}]")
    assert job.spec.containers[0].command == [DONE]


@pytest.mark.parametrize(
    ("container", "is_played"),
    [
        ("{name: app, command: [/bin/sh, -c, exit]}", False),
        ("{name: app, command: [/bin/sh, -c, exit], image: app}", True),
        ("{name: app, command: [no-such-program-here]}", True),
        ("{name: app, command: [/no/such/program]}", True),
    ],
)
def test_a_program_of_this_machine_without_an_image_runs_itself(container: str, is_played: bool) -> None:
    before = pod(f"  containers: [{container}]")
    made, names = with_stand_ins(before, "web", lambda workload, each: Behaviour())
    assert bool(names) is is_played
    assert (made is before) is not is_played
