"""A container's variables, command and arguments as the kubelet expands them."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from probelet._rust import expand
from probelet.node.effects.cri_config import Instance, container_config
from probelet.node.effects.environment.config_error import ContainerConfigError
from probelet.node.effects.environment.place import Place
from probelet.node.effects.environment.variables import environment
from probelet.node.effects.environment.variables import expanded as expanded_texts
from probelet.node.effects.linux.host import Host
from probelet.node.effects.linux.run_as import ImageUser
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.objects.config_object import ConfigObject, Kind

POD = msgspec.convert(
    {
        "metadata": {
            "name": "web",
            "namespace": "prod",
            "uid": "u1",
            "labels": {"app": "shop"},
            "annotations": {"team/name": "cart"},
        },
        "spec": {"serviceAccountName": "robot"},
    },
    Pod,
)
PLACE = Place(node="node-a", pod_ip="127.0.0.9", host_ip="10.0.0.5", given={"POD_IP": "127.0.0.9"})


def container(*env: dict[str, Any], **fields: Any) -> Container:
    return msgspec.convert({"name": "app", "env": list(env), **fields}, Container)


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("x$(A)y$(A)$(EMPTY)", "xaya"),
        ("$(REF)", "$(A)"),
        ("$(NOPE)$()", "$(NOPE)$()"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$a"),
        ("$$$$", "$$"),
        ("$A $ $(A", "$A $ $(A"),
        ("cost: 5$", "cost: 5$"),
        ("$(A)$", "a$"),
        ("$é(A)", "$é(A)"),
        ("$($(A))", "$($(A))"),
    ],
)
def test_expansion_replaces_known_references_once_and_keeps_all_other_text(text: str, expanded: str) -> None:
    assert expand(text, {"A": "a", "REF": "$(A)", "EMPTY": ""}) == expanded


def test_a_variable_may_use_earlier_variables_and_those_of_the_runtime() -> None:
    env = [
        {"name": "URL", "value": "http://$(HOST):$(PORT)"},
        {"name": "HOST", "value": "$(POD_IP)"},
        {"name": "PORT", "value": "80"},
        {"name": "FULL", "value": "$(HOST):$(PORT)$$(PORT)"},
        {"name": "PORT", "value": "$(PORT)81"},
    ]
    assert environment(POD, container(*env), PLACE) == {
        "URL": "http://$(HOST):$(PORT)",
        "HOST": "127.0.0.9",
        "PORT": "8081",
        "FULL": "127.0.0.9:80$(PORT)",
    }


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.name", "web"),
        ("metadata.namespace", "prod"),
        ("metadata.uid", "u1"),
        ("metadata.labels['app']", "shop"),
        ("metadata.labels['other']", ""),
        ("metadata.annotations['team/name']", "cart"),
        ("spec.nodeName", "node-a"),
        ("status.podIP", "127.0.0.9"),
        ("status.podIPs", "127.0.0.9"),
        ("status.hostIP", "10.0.0.5"),
        ("status.hostIPs", "10.0.0.5"),
        ("spec.serviceAccountName", "robot"),
    ],
)
def test_a_field_of_the_pod_can_be_read(path: str, value: str) -> None:
    reference = {"name": "V", "valueFrom": {"fieldRef": {"fieldPath": path}}}
    assert environment(POD, container(reference), PLACE) == {"V": value}


def source(**value_from: Any) -> dict[str, Any]:
    return {"name": "V", "valueFrom": value_from}


AMOUNTS = {"limits": {"cpu": "1500m", "memory": "100Mi"}, "requests": {"cpu": "250m"}}


@pytest.mark.parametrize(
    ("resource", "divisor", "value"),
    [
        ("limits.cpu", None, "2"),
        ("limits.cpu", "1m", "1500"),
        ("requests.cpu", "1", "1"),
        ("requests.cpu", "1m", "250"),
        ("limits.memory", None, "104857600"),
        ("limits.memory", "1M", "105"),
        ("limits.memory", "1Mi", "100"),
        ("requests.memory", "1Mi", "100"),
        ("requests.ephemeral-storage", None, "0"),
        ("limits.ephemeral-storage", "1Gi", "7"),
        ("limits.hugepages-2Mi", None, "0"),
    ],
)
def test_a_resource_counts_in_units_of_its_divisor_rounded_up(resource: str, divisor: str | None, value: str) -> None:
    selector = {"resource": resource, **({"divisor": divisor} if divisor else {})}
    app = container(source(resourceFieldRef=selector), resources=AMOUNTS)
    place = replace(PLACE, allocatable={"cpu": Fraction(8), "ephemeral-storage": Fraction(7 * 2**30 - 1)})
    assert environment(POD, app, place) == {"V": value}


def test_a_limit_that_is_not_set_is_what_the_node_or_the_pod_has() -> None:
    wanted = [
        {"name": name, "valueFrom": {"resourceFieldRef": {"resource": f"limits.{name}"}}} for name in ("cpu", "memory")
    ]
    place = replace(PLACE, allocatable={"cpu": Fraction(4), "memory": Fraction(2**33)})
    assert environment(POD, container(*wanted), place) == {"cpu": "4", "memory": str(2**33)}
    # Zero is no limit.
    assert environment(POD, container(*wanted, resources={"limits": {"cpu": "0"}}), place)["cpu"] == "4"
    limited = msgspec.convert({"spec": {"resources": {"limits": {"cpu": "2"}}}}, Pod)
    assert environment(limited, container(*wanted), place) == {"cpu": "2", "memory": str(2**33)}
    assert environment(POD, container(*wanted), PLACE) == {"cpu": "0", "memory": "0"}, "the node told nothing"


def test_a_resource_of_another_container() -> None:
    spec = {"containers": [{"name": "app"}], "initContainers": [{"name": "setup", "resources": AMOUNTS}]}
    pod = msgspec.convert({"spec": spec}, Pod)
    place = replace(PLACE, allocatable={"cpu": Fraction(4), "memory": Fraction(2**33)})

    def value(name: str, resource: str) -> str:
        selector = {"containerName": name, "resource": resource}
        return environment(pod, container(source(resourceFieldRef=selector)), place)["V"]

    assert (value("setup", "limits.cpu"), value("app", "limits.cpu")) == ("2", "4")
    # Init containers are not defaulted (kubelet defaultPodLimitsForDownwardAPI).
    assert (value("setup", "limits.ephemeral-storage"), value("app", "limits.memory")) == ("0", str(2**33))
    with pytest.raises(ContainerConfigError, match=r"^container other not found$"):
        value("other", "limits.cpu")


def config(kind: Kind, name: str, **data: bytes) -> ConfigObject:
    return ConfigObject(kind, "prod", name, data, Path("conf.yaml"), 1)


HELD = {
    held.key: held
    for held in (
        config("ConfigMap", "m", PORT=b"80", URL=b"http://$(PORT)", BOTH=b"map"),
        config("Secret", "s", TOKEN=b"\xff\0", BOTH=b"secret"),
        ConfigObject("ConfigMap", "other", "n", {"K": b"v"}, Path("conf.yaml"), 1),
    )
}
WITH_OBJECTS = replace(PLACE, objects=HELD)


def test_every_key_of_an_object_is_a_variable_that_env_may_use_and_replace() -> None:
    sources = [{"configMapRef": {"name": "m"}}, {"prefix": "S_", "secretRef": {"name": "s"}}]
    env = [{"name": "PORT", "value": "$(PORT)80"}, {"name": "ALL", "value": "$(URL) $(BOTH) $(S_BOTH)"}]
    found = environment(POD, container(*env, envFrom=sources), WITH_OBJECTS)
    assert found == {
        "PORT": "8080",
        # Values of objects are not expanded, as in the kubelet.
        "URL": "http://$(PORT)",
        "BOTH": "map",
        "S_TOKEN": "\udcff\0",
        "S_BOTH": "secret",
        "ALL": "http://$(PORT) map secret",
    }
    later = [{"secretRef": {"name": "s"}}, {"configMapRef": {"name": "m"}}]
    assert environment(POD, container(envFrom=later), WITH_OBJECTS)["BOTH"] == "map", "of two sources the last counts"


def test_one_key_of_an_object() -> None:
    app = container(
        {"name": "P", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "PORT"}}},
        {"name": "T", "valueFrom": {"secretKeyRef": {"name": "s", "key": "TOKEN"}}},
        {"name": "N", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "NO", "optional": True}}},
        {"name": "O", "valueFrom": {"secretKeyRef": {"name": "no", "key": "K", "optional": True}}},
        envFrom=[{"configMapRef": {"name": "no", "optional": True}}],
        args=["$(P)"],
    )
    config = container_config(POD, app, Instance(0, "", ImageUser()), WITH_OBJECTS, Host())
    assert [(env.key, env.value) for env in config.envs] == [("P", b"80"), ("T", b"\xff\0")], "the bytes as they are"
    assert list(config.args) == ["80"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"env": [source(configMapKeyRef={"name": "no", "key": "k"})]}, 'configmap "no" not found'),
        ({"env": [source(secretKeyRef={"name": "m", "key": "k"})]}, 'secret "m" not found'),
        ({"env": [source(secretKeyRef={"name": "s", "key": "k"})]}, "couldn't find key k in Secret prod/s"),
        (
            {"env": [source(configMapKeyRef={"name": "m", "key": "k", "optional": False})]},
            "couldn't find key k in ConfigMap prod/m",
        ),
        ({"envFrom": [{"configMapRef": {"name": "n"}}]}, 'configmap "n" not found'),
        (
            {"envFrom": [{"secretRef": {"name": "s"}}], "env": [{"name": "X", "value": "$(TOKEN)"}]},
            "a reference names a variable whose value is not UTF-8",
        ),
    ],
)
def test_a_missing_object_or_key_keeps_the_container_from_starting(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(ContainerConfigError, match=f"^{re.escape(text)}$"):
        environment(POD, msgspec.convert({"name": "app", **fields}, Container), WITH_OBJECTS)


def test_a_file_of_a_volume_leaves_its_variable_unset() -> None:
    reference = {"volumeName": "v", "path": "env", "key": "K"}
    app = container(source(fileKeyRef=reference), {"name": "W", "value": "$(V)"})
    assert environment(POD, app, PLACE) == {"W": "$(V)"}


def test_command_and_arguments_are_expanded_with_the_whole_environment() -> None:
    app = container(
        {"name": "PORT", "value": "80"},
        {"name": "LATE", "value": "2"},
        command=["serve", "$(POD_IP):$(PORT)"],
        args=["--workers=$(LATE)", "$(HOME)"],
    )
    config = container_config(POD, app, Instance(0, "", ImageUser()), PLACE, Host())
    assert list(config.command) == ["serve", "127.0.0.9:80"]
    assert list(config.args) == ["--workers=2", "$(HOME)"]
    assert [(env.key, env.value) for env in config.envs] == [("PORT", b"80"), ("LATE", b"2")], "POD_IP is the runtime's"


@pytest.mark.parametrize("steps", [18, 19, 60])
def test_variables_that_grow_without_end_are_an_error_of_the_start_alone(steps: int) -> None:
    """A kilobyte of manifest asks for more memory than a machine has. The kubelet would take it."""
    first = {"name": "V0", "value": "0123456789"}
    doubled = [{"name": f"V{step}", "value": f"$(V{step - 1})$(V{step - 1})"} for step in range(1, steps + 1)]
    with pytest.raises(OSError, match="Argument list too long"):
        environment(POD, container(first, *doubled), PLACE)


def test_arguments_that_grow_without_end_are_an_error_of_the_start_alone() -> None:
    with pytest.raises(OSError, match="Argument list too long"):
        expanded_texts(["$(A)" * 100_000], {"A": "v" * 100_000})
    with pytest.raises(OSError, match="Argument list too long"):
        expanded_texts(["$(A)"] * 100, {"A": "v" * 100_000})
    assert expanded_texts(["$(A)"] * 50, {"A": "v" * 100_000}) == ["v" * 100_000] * 50
