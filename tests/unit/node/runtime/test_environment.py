"""A container's variables, command and arguments as the kubelet expands them."""

from typing import Any

import msgspec
import pytest
from probelet._rust import expand
from probelet.node.runtime.cri_config import Instance, container_config
from probelet.node.runtime.environment import Place, environment
from probelet.node.runtime.environment import expanded as expanded_texts
from probelet.node.runtime.linux.host import Host
from probelet.node.runtime.linux.run_as import ImageUser
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod

POD = msgspec.convert(
    {
        "metadata": {
            "name": "web",
            "namespace": "prod",
            "uid": "u1",
            "labels": {"app": "shop"},
            "annotations": {"team/name": "cart"},
        },
    },
    Pod,
)
PLACE = Place(node="node-a", pod_ip="127.0.0.9", given={"POD_IP": "127.0.0.9"})


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
    ],
)
def test_a_field_of_the_pod_can_be_read(path: str, value: str) -> None:
    source = {"name": "V", "valueFrom": {"fieldRef": {"fieldPath": path}}}
    assert environment(POD, container(source), PLACE) == {"V": value}


@pytest.mark.parametrize(
    "source",
    [
        {"configMapKeyRef": {"name": "m", "key": "k"}},
        {"resourceFieldRef": {"resource": "limits.cpu"}},
        {"fieldRef": {"fieldPath": "status.hostIP"}},
        {"fieldRef": {}},
        {"fieldRef": "status.podIP"},
        {},
        "text",
    ],
)
def test_a_variable_with_an_unsupported_source_stays_unset(source: Any) -> None:
    found = environment(POD, container({"name": "V", "valueFrom": source}, {"name": "W", "value": "$(V)"}), PLACE)
    assert found == {"W": "$(V)"}


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
