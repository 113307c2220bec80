"""Converts the runtime's statuses into the records of policy and the facts of the engine."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from probelet.node.effects.cri_config import Instance, container_config, sandbox_config
from probelet.node.effects.environment.place import Place
from probelet.node.effects.linux.host import Host
from probelet.node.effects.linux.run_as import ImageUser
from probelet.policy.facts.snapshot import ContainerRecord, State
from probelet.policy.glue.status_layer import encode_facts
from probelet.policy.protocol.actions import Publish
from probelet.policy.status.container_status import ContainerStatus, LastExit
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.seen import labels
from probelet.runtime.seen.facts import container_record, sandbox_record
from probelet.spec.model.pod import Pod
from probelet.spec.text.container_id import bare_id

SECOND = 1_000_000_000
POD = msgspec.convert(
    {
        "metadata": {"name": "web", "namespace": "prod", "uid": "u1", "labels": {"app": "web"}},
        "spec": {
            "terminationGracePeriodSeconds": 7,
            "containers": [
                {
                    "name": "app",
                    "image": "web:1",
                    "command": ["serve"],
                    "args": ["-v"],
                    "workingDir": "/srv",
                    "env": [{"name": "A", "value": "1"}],
                }
            ],
        },
    },
    Pod,
)


def exited(finished_at: int) -> api_pb2.ContainerStatus:
    return api_pb2.ContainerStatus(id="c", state=api_pb2.CONTAINER_EXITED, finished_at=finished_at, exit_code=3)


def finished_ns(finished_at: int) -> int | None:
    record = container_record(
        exited(finished_at), runtime="t", sandbox_id="s", now_ns=100 * SECOND, wall_ns=5_000 * SECOND
    )
    return record.finished_ns


@pytest.mark.parametrize(
    ("finished_at", "expected"),
    [
        (4_990 * SECOND, 90 * SECOND),
        (5_000 * SECOND, 100 * SECOND),
        (5_500 * SECOND, 100 * SECOND),
        (4_000 * SECOND, 0),
        (0, 0),
    ],
    ids=["10 s ago", "now", "in the future", "before the engine's time", "unknown"],
)
def test_the_time_of_an_exit_is_converted_to_the_engines_clock(finished_at: int, expected: int) -> None:
    assert finished_ns(finished_at) == expected


def test_a_record_reads_back_what_the_configuration_wrote_into_a_container() -> None:
    config = container_config(POD, POD.spec.containers[0], Instance(4, "sha256:1", ImageUser()), Place(), Host())
    status = api_pb2.ContainerStatus(
        id="c",
        metadata=config.metadata,
        state=api_pb2.CONTAINER_RUNNING,
        started_at=1_500 * 1_000_000,
        labels=config.labels,
        annotations=config.annotations,
    )
    record = container_record(status, runtime="containerd", sandbox_id="s", now_ns=1, wall_ns=1)
    assert (record.id, record.name, record.restart_count, record.state) == ("containerd://c", "app", 4, State.RUNNING)
    assert (record.started_at_ms, record.finished_ns, record.sandbox_id) == (1500, None, "s")
    from probelet.policy.rules.restart import definition

    assert record.definition == definition(POD.spec.containers[0])
    assert bare_id(record.id) == "c"


def test_containers_and_sandboxes_are_labelled_as_a_kubelet_labels_them() -> None:
    config = container_config(POD, POD.spec.containers[0], Instance(2, "sha256:1", ImageUser()), Place(), Host())
    assert dict(config.labels) == {
        "io.kubernetes.pod.name": "web",
        "io.kubernetes.pod.namespace": "prod",
        "io.kubernetes.pod.uid": "u1",
        "io.kubernetes.container.name": "app",
    }
    assert config.annotations["io.kubernetes.container.restartCount"] == "2"
    assert config.annotations["io.kubernetes.pod.terminationGracePeriod"] == "7"
    assert (config.metadata.attempt, config.log_path) == (2, "app/2.log")
    assert (list(config.command), list(config.args), config.working_dir) == (["serve"], ["-v"], "/srv")
    assert [(env.key, env.value) for env in config.envs] == [("A", b"1")]
    sandbox = sandbox_config(POD, attempt=1, node="n", hostname="web", log_root=Path("/logs"))
    assert sandbox.log_directory == "/logs/prod_web_u1"
    assert (sandbox.metadata.uid, sandbox.metadata.attempt, sandbox.hostname) == ("u1", 1, "web")
    assert sandbox.labels["app"] == "web"
    assert sandbox.labels[labels.NODE] == "n"
    assert sandbox.linux.security_context.namespace_options.pid == api_pb2.CONTAINER


@pytest.mark.parametrize(("text", "count"), [("3", 3), ("", 0), ("x", 0), ("-1", 0)])
def test_a_restart_count_that_cannot_be_read_is_zero(text: str, count: int) -> None:
    assert labels.restart_count({labels.RESTART_COUNT: text}) == count


def test_a_sandbox_on_the_hosts_network_has_no_address_of_its_own() -> None:
    status = api_pb2.PodSandboxStatus(id="s", state=api_pb2.SANDBOX_READY)
    assert sandbox_record(status).ip == ""
    status.linux.namespaces.options.network = api_pb2.NODE
    assert sandbox_record(status).ip is None


def test_a_container_in_back_off_is_waiting_with_its_old_id_in_the_facts() -> None:
    waiting = ContainerStatus("app", "regular", "t://a-0", "waiting", "CrashLoopBackOff", last_exit=LastExit(1, 1, ""))
    running = ContainerStatus("log", "sidecar", "t://l-0", "running", started_at_ms=1234)
    done = ContainerStatus("init", "init", "t://i-0", "terminated", exit_code=0)
    statuses = {status.name: status for status in (running, done, waiting)}
    assert json.loads(encode_facts(Publish("Running", "10.0.0.1", statuses, False))) == {
        "phase": "Running",
        "pod_ip": "10.0.0.1",
        "containers": [{"name": "app", "id": "t://a-0", "state": "waiting"}],
        "init_containers": [
            {"name": "log", "id": "t://l-0", "state": "running", "started_at_ms": 1234},
            {"name": "init", "id": "t://i-0", "state": "terminated", "exit_code": 0},
        ],
    }


def read(**fields: Any) -> ContainerRecord:
    status = api_pb2.ContainerStatus(id="c", **fields)
    return container_record(status, runtime="t", sandbox_id="s", now_ns=0, wall_ns=0)


@pytest.mark.parametrize(
    ("written", "count"),
    [
        ("7", 7),
        ("0012", 12),
        (str(2**31 - 1), 2**31 - 1),
        (str(2**31), 0),
        (str(2**32 - 1), 0),
        ("9" * 5_000, 0),
        ("1" * 1_000_000, 0),
        ("-1", 0),
        ("+1", 0),
        ("1e3", 0),
        ("0x10", 0),
        (" 7 ", 0),
        ("7\n", 0),
        ("1_000", 0),
        ("\u0663", 0),
        ("\u00b2", 0),
        ("[" * 100_000, 0),
        ("", 0),
    ],
)
def test_a_restart_count_that_is_none_counts_as_0(written: str, count: int) -> None:
    assert read(annotations={labels.RESTART_COUNT: written}).restart_count == count
    # The next one still fits into the messages of CRI.
    instance = Instance(count + 1, "", ImageUser())
    assert container_config(POD, POD.spec.containers[0], instance, Place(), Host()).metadata.attempt == count + 1


def test_long_texts_of_the_runtime_are_cut() -> None:
    record = read(
        reason="r" * 1_000_000,
        message="m" * 1_000_000 + "why",
        labels={labels.CONTAINER_NAME: "n" * 1_000_000},
        annotations={labels.HASH: "h" * 1_000_000},
    )
    assert max(map(len, (record.reason, record.name, record.definition))) <= 253
    assert len(record.message) == 4096
    assert record.message.endswith("why")


@pytest.mark.parametrize(
    ("ip", "expected"),
    [
        ("10.0.0.7", "10.0.0.7"),
        ("fd00::7", "fd00::7"),
        ("::ffff:127.0.0.1", "::ffff:127.0.0.1"),
        ("", ""),
        ("999.1.1.1", None),
        ("127.0.0.1\r\nX-Evil: 1", None),
        ("fe80::1%\x1b[2J", None),
        ("1" * 100_000, None),
        ("localhost", None),
        ("10.0.0.7/8", None),
    ],
)
def test_an_address_that_is_none_is_absent_and_costs_no_sandbox(ip: str, expected: str | None) -> None:
    status = api_pb2.PodSandboxStatus(id="s", network=api_pb2.PodSandboxNetworkStatus(ip=ip))
    assert sandbox_record(status).ip == expected
