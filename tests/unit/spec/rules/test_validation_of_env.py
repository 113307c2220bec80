"""The API server's messages about variables, their sources, and what a pod says of its network."""

from typing import Any

import pytest
from probelet.spec import validate
from probelet.spec.rules.names import config_key, ip_address, qualified_name

from tests.unit.spec.pods import pod_of

C = "spec.containers[0]"
V = f"{C}.env[0].valueFrom"
NAME = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
PATHS = (
    'supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", '
    '"spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"'
)
RESOURCES = (
    'supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", '
    '"requests.ephemeral-storage", "requests.memory"'
)


def messages(container: dict[str, Any], **spec: Any) -> list[str]:
    return [str(error) for error in validate(pod_of({"containers": [{"name": "app", **container}], **spec}))]


def of_source(source: dict[str, Any], value: str = "") -> list[str]:
    return messages({"env": [{"name": "V", "value": value, "valueFrom": source}]})


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            {},
            'Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, '
            "`secretKeyRef` or `fileKeyRef`",
        ),
        (
            {"fieldRef": {"fieldPath": "metadata.name"}, "secretKeyRef": {"name": "s", "key": "k"}},
            'Invalid value: "": may not have more than one field specified at a time',
        ),
        ({"fieldRef": {}}, ".fieldRef.fieldPath: Required value"),
        (
            {"fieldRef": {"fieldPath": "status.phase"}},
            f'.fieldRef.fieldPath: Unsupported value: "status.phase": {PATHS}',
        ),
        (
            {"fieldRef": {"fieldPath": "spec.image"}},
            '.fieldRef.fieldPath: Invalid value: "spec.image": error converting fieldPath: '
            "field label not supported: spec.image",
        ),
        (
            {"fieldRef": {"apiVersion": "v2", "fieldPath": "metadata.name"}},
            '.fieldRef.fieldPath: Invalid value: "metadata.name": error converting fieldPath: '
            "unsupported pod version: v2",
        ),
        (
            {"fieldRef": {"fieldPath": "metadata.finalizers['x']"}},
            ".fieldRef.fieldPath: Invalid value: \"metadata.finalizers['x']\": error converting fieldPath: "
            "field label does not support subscript: metadata.finalizers['x']",
        ),
        ({"fieldRef": {"fieldPath": "metadata.labels['a b']"}}, f'.fieldRef: Invalid value: "a b": name part {NAME}'),
        ({"resourceFieldRef": {}}, ".resourceFieldRef.resource: Required value"),
        (
            {"resourceFieldRef": {"resource": "limits.gpu"}},
            f'.resourceFieldRef.resource: Unsupported value: "limits.gpu": {RESOURCES}',
        ),
        (
            {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1k"}},
            '.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported '
            "with the cpu resource",
        ),
        (
            {"resourceFieldRef": {"resource": "requests.memory", "divisor": "5Mi"}},
            '.resourceFieldRef.divisor: Invalid value: "requests.memory": only divisor\'s values 1, 1k, 1M, 1G, 1T, '
            "1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the memory resource",
        ),
        ({"configMapKeyRef": {"name": "m"}}, ".configMapKeyRef.key: Required value"),
        ({"secretKeyRef": {"name": "s", "key": ".."}}, ".secretKeyRef.key: Invalid value: \"..\": must not be '..'"),
        ({"fileKeyRef": {"key": "K", "volumeName": "v"}}, ".fileKeyRef.path: Required value"),
    ],
)
def test_a_source_with_a_mistake(source: dict[str, Any], expected: str) -> None:
    joint = "" if expected.startswith(".") else ": "
    assert of_source(source) == [f"{V}{joint}{expected}"]


@pytest.mark.parametrize(
    "source",
    [
        {"fieldRef": {"fieldPath": "metadata.annotations['Example.com/Team']"}},
        {"resourceFieldRef": {"resource": "limits.hugepages-2Mi", "divisor": "1Mi"}},
        {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}},
        {"configMapKeyRef": {"name": "m", "key": "app.properties", "optional": True}},
    ],
)
def test_a_source_without_a_mistake(source: dict[str, Any]) -> None:
    assert of_source(source) == []
    assert of_source(source, "text") == [f'{V}: Invalid value: "": may not be specified when `value` is not empty']


def test_sources_of_all_variables() -> None:
    of_map = {"configMapRef": {"name": "m"}}
    assert messages({"envFrom": [of_map, {"prefix": "A B", "secretRef": {"name": "s", "optional": True}}]}) == []
    assert messages({"envFrom": [{"prefix": "A=", **of_map}]})[0].startswith(
        f'{C}.envFrom[0].prefix: Invalid value: "A=": a valid environment variable name'
    )
    assert messages({"envFrom": [of_map, {}]}) == [
        f'{C}.envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`'
    ]
    assert messages({"envFrom": [{**of_map, "secretRef": {}}]}) == [
        f"{C}.envFrom[0].secretRef.name: Required value",
        f'{C}.envFrom: Invalid value: "": may not have more than one field specified at a time',
    ]


@pytest.mark.parametrize(
    ("ip", "wrong"),
    [
        *((ip, []) for ip in ("10.0.0.1", "::1", "2001:db8::ffff")),
        *(
            (ip, ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"])
            for ip in ("", "10.0.0", "10.0.0.256", "db", "fe80::1%eth0", "10.0.0.1\n1.1.1.1", " 10.0.0.1", "1::2::3")
        ),
        ("010.000.0.01", ["must not have leading 0s"]),
        ("::ffff:10.0.0.1", ["must not be an IPv4-mapped IPv6 address"]),
    ],
)
def test_addresses(ip: str, wrong: list[str]) -> None:
    assert ip_address(ip) == wrong


def test_aliases_become_lines_of_a_file_so_they_are_an_address_and_names() -> None:
    aliases = [{"ip": "10.0.0.1", "hostnames": ["db.local"]}, {"ip": "x", "hostnames": ["ok", "Db\n1.1.1.1 bank"]}]
    first, second = messages({}, hostAliases=aliases)
    assert first == (
        'spec.hostAliases[1].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
    )
    assert second.startswith(r'spec.hostAliases[1].hostnames[1]: Invalid value: "Db\n1.1.1.1 bank": a lowercase RFC')


def test_ports_of_the_host() -> None:
    ports = [{"containerPort": 80, "hostPort": 8080}, {"containerPort": 81}]
    assert messages({"ports": ports}) == []
    assert messages({"ports": ports}, hostNetwork=True) == [
        f"{C}.ports[0].hostPort: Invalid value: 8080: must match `containerPort` when `hostNetwork` is true"
    ]
    assert messages({"ports": [*ports, {"containerPort": 82, "hostPort": 8080}]}) == [
        f'{C}.ports[2].hostPort: Duplicate value: "TCP//8080"'
    ]


def test_names_and_gates() -> None:
    spec = {
        "hostNetwork": True,
        "hostnameOverride": "box.example.org",
        "setHostnameAsFQDN": True,
        "subdomain": "a.b",
        "readinessGates": [{"conditionType": "a/b/c"}, {"conditionType": "/x"}],
        "schedulingGates": [{"name": "a"}, {"name": "a"}],
    }
    assert messages({}, **spec) == [
        f'spec.readinessGates[0].conditionType: Invalid value: "a/b/c": a qualified name {NAME} with an optional DNS '
        "subdomain prefix and '/' (e.g. 'example.com/MyName')",
        'spec.readinessGates[1].conditionType: Invalid value: "/x": prefix part must be non-empty',
        'spec.schedulingGates[1]: Duplicate value: "a"',
        "spec.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true",
        "spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true",
        'spec.subdomain: Invalid value: "a.b": must not contain dots',
    ]
    assert messages({}, hostnameOverride="a" * 65)[0] == (
        "spec.hostnameOverride: Too long: may not be more than 64 bytes"
    )
    assert qualified_name("") == ["name part must be non-empty", f"name part {NAME}"]
    assert qualified_name("a" * 64) == ["name part must be no more than 63 characters"]


def test_keys_of_objects() -> None:
    assert config_key("app.properties-1_A") == []
    assert config_key("..a") == ["must not start with '..'"]
    assert config_key("a" * 254) == ["must be no more than 253 characters"]
    [message] = config_key("a/b")
    assert message.startswith("a valid config key must consist of alphanumeric characters")
