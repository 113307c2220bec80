"""What the detector of incidents learns of a pod: its workload, its version, and what its probes ask."""

import pytest
from probelet.daemon.asked_hosts import asked_hosts
from probelet.policy.incidents.subjects import asks_of, revision_of, subjects, workload_of
from probelet.spec.annotation.depends_on import NAMES_MAX, depends_on
from probelet.spec.model.container import Container, ContainerPort
from probelet.spec.model.env import EnvVar
from probelet.spec.model.meta import ObjectMeta, OwnerReference
from probelet.spec.model.pod import Pod, PodSpec
from probelet.spec.model.probe import ExecAction, HTTPGetAction, Probe, TCPSocketAction


def made_pod(probe: Probe | None = None, *, env: dict[str, str] | None = None, **meta: object) -> Pod:
    container = Container(
        name="app",
        image="shop:1",
        env=[EnvVar(name=name, value=value) for name, value in (env or {}).items()],
        ports=[ContainerPort(name="web", container_port=8080)],
        readiness_probe=probe,
    )
    metadata = ObjectMeta(name="web-1", namespace="shop", uid="uid", **meta)  # type: ignore[arg-type]
    return Pod(metadata=metadata, spec=PodSpec(containers=[container]))


def targets(pod: Pod) -> list[tuple[str, ...]]:
    return [each.targets for each in subjects(pod, "n1", workload_of(pod), asks_of(pod, asked_hosts))]


def owned(kind: str, name: str, **labels: str) -> Pod:
    owner = OwnerReference(kind=kind, name=name, controller=True)
    return made_pod(owner_references=[owner], labels={key.replace("_", "-"): value for key, value in labels.items()})


@pytest.mark.parametrize(
    ("pod", "workload"),
    [
        (made_pod(), ""),
        (owned("StatefulSet", "db"), "StatefulSet/db"),
        (owned("ReplicaSet", "web-7d4b9c", pod_template_hash="7d4b9c"), "Deployment/web"),
        (owned("ReplicaSet", "web-7d4b9c"), "ReplicaSet/web-7d4b9c"),
        (owned("Job", "report-29348215"), "CronJob/report"),
        (owned("Job", "report-1"), "Job/report-1"),
    ],
)
def test_the_workload_is_what_outlives_a_version(pod: Pod, workload: str) -> None:
    assert workload_of(pod) == workload


def test_the_version_is_that_of_the_template() -> None:
    assert revision_of(owned("ReplicaSet", "web-7d", pod_template_hash="7d")) == "7d"
    assert revision_of(owned("DaemonSet", "log", controller_revision_hash="5f")) == "5f"
    assert revision_of(made_pod()) == ""


@pytest.mark.parametrize(
    ("probe", "asked"),
    [
        (Probe(http_get=HTTPGetAction(host="db", port=5432)), ("db:5432",)),
        (Probe(http_get=HTTPGetAction(host="db", port="web")), ("db:8080",)),
        (Probe(http_get=HTTPGetAction(port=8080)), ()),
        (Probe(tcp_socket=TCPSocketAction(host="db", port=5432)), ("db:5432",)),
        (Probe(exec=ExecAction(command=["pg_isready", "-h", "db", "-p", "5432"])), ("db",)),
        (
            Probe(exec=ExecAction(command=["sh", "-c", "curl -f http://$CACHE/ready && pg_isready -h db"])),
            ("redis", "db"),
        ),
        (Probe(exec=ExecAction(command=["curl", "http://localhost:8080/"])), ()),
        (Probe(exec=ExecAction(command=["curl", "http://$UNKNOWN/"])), ()),
        (Probe(exec=ExecAction(command=["sh", "-c", "x" * 5_000])), ()),
    ],
)
def test_what_a_probe_asks(probe: Probe, asked: tuple[str, ...]) -> None:
    pod = made_pod(probe, env={"CACHE": "redis"})
    [found] = targets(pod)
    assert sorted(found) == sorted(asked)


def test_the_annotation_counts_for_every_probe_of_the_pod() -> None:
    annotations = {"probelet.dev/depends-on": "db:5432, cache,db:5432"}
    assert targets(made_pod(Probe(http_get=HTTPGetAction(port=8080)), annotations=annotations)) == [
        ("db:5432", "cache")
    ]


@pytest.mark.parametrize("text", ["", "db:5432,", "a b", "db:port", "http://db", "x" * 300])
def test_an_entry_that_is_no_name_is_a_mistake_with_its_path(text: str) -> None:
    _, [error, *_] = depends_on(made_pod(annotations={"probelet.dev/depends-on": text}))
    assert "metadata.annotations[probelet.dev/depends-on]" in str(error)
    assert "such as db:5432,cache" in str(error)


def test_the_names_of_a_pod_are_bounded() -> None:
    text = ",".join(f"db-{number}" for number in range(NAMES_MAX + 2))
    names, errors = depends_on(made_pod(annotations={"probelet.dev/depends-on": text}))
    assert (len(names), len(errors)) == (NAMES_MAX, 2)


def test_addresses_are_names_too() -> None:
    text = "10.0.0.7:5432,[fd00::1]:5432,[fd00::1],db.shop.svc"
    assert depends_on(made_pod(annotations={"probelet.dev/depends-on": text})) == (tuple(text.split(",")), [])
