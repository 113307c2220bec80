"""The API server's messages about pods and containers."""

from typing import Any

import pytest
from probelet.spec import Pod, decode_pod, set_defaults, validate
from probelet.spec.text.golang import go_quote

from tests.unit.spec.pods import pod_of

LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
ENV = "a valid environment variable name must consist only of printable ASCII characters other than '='"
C = "spec.containers[0]"


def messages(pod: Pod) -> list[str]:
    return [str(error) for error in validate(pod)]


def container(**fields: Any) -> Pod:
    return pod_of({"containers": [{"name": "app", **fields}]})


def test_a_generated_name_is_for_the_api_server_alone() -> None:
    pod = decode_pod(b'{"metadata": {"generateName": "web-"}, "spec": {"containers": [{"name": "app"}]}}')
    said = "the API server makes a name of generateName, and a static pod needs one of its own"
    assert messages(set_defaults(pod))[0] == f"metadata.name: Required value: {said}"


def test_an_empty_object_lacks_a_name_and_a_container() -> None:
    assert messages(set_defaults(decode_pod(b"{}"))) == [
        "metadata.name: Required value: name or generateName is required",
        "spec.containers: Required value",
    ]


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"name": "Web"}, [f'metadata.name: Invalid value: "Web": {SUBDOMAIN}']),
        ({"name": "web.a"}, []),
        ({"name": "a" * 254}, [f'metadata.name: Invalid value: "{"a" * 254}": must be no more than 253 characters']),
        ({"namespace": "a_b"}, [f'metadata.namespace: Invalid value: "a_b": {LABEL}']),
        ({"namespace": "a.b"}, ['metadata.namespace: Invalid value: "a.b": must not contain dots']),
        ({"uid": "8f6c7a52-0000-4000-8000-000000000001"}, []),
        ({"uid": "0123456789abcdef0123456789abcdef"}, []),
        ({"uid": "my_pod.1"}, []),
        *(
            ({"uid": uid}, [f"metadata.uid: Invalid value: {go_quote(uid)}: {LABEL_VALUE}"])
            for uid in ("x/../../../../victim", "/etc", "..", ".", "a/b", "a\0b", "a\n", "-a", "\u0663")
        ),
        ({"uid": "a" * 64}, [f'metadata.uid: Invalid value: "{"a" * 64}": must be no more than 63 characters']),
    ],
)
def test_names_of_pods_and_namespaces(metadata: dict[str, str], expected: list[str]) -> None:
    assert messages(pod_of({"containers": [{"name": "app"}]}, **metadata)) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"name": ""}, [f"{C}.name: Required value"]),
        ({"name": "App"}, [f'{C}.name: Invalid value: "App": {LABEL}']),
        ({"name": "a\n"}, [f'{C}.name: Invalid value: "a\\n": {LABEL}']),
        ({"name": "a" * 64}, [f'{C}.name: Invalid value: "{"a" * 64}": must be no more than 63 characters']),
        ({"ports": [{}]}, [f"{C}.ports[0].containerPort: Required value"]),
        (
            {"ports": [{"containerPort": 65536, "hostPort": -1, "protocol": "tcp"}]},
            [
                f"{C}.ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive",
                f"{C}.ports[0].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive",
                f'{C}.ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"',
            ],
        ),
        (
            {"ports": [{"containerPort": 1, "name": "http"}, {"containerPort": 2, "name": "http"}]},
            [f'{C}.ports[1].name: Duplicate value: "http"'],
        ),
        (
            {"ports": [{"containerPort": 1, "name": "1"}]},
            [f'{C}.ports[0].name: Invalid value: "1": must contain at least one letter (a-z)'],
        ),
        ({"env": [{}]}, [f"{C}.env[0].name: Required value"]),
        ({"env": [{"name": "A=B"}]}, [f'{C}.env[0].name: Invalid value: "A=B": {ENV}']),
        ({"env": [{"name": "1 odd.name"}, {"name": "A", "value": "é"}]}, []),
        (
            {"restartPolicy": "Sometimes"},
            [f'{C}.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"'],
        ),
        (
            {"restartPolicyRules": [{"action": "Restart"}]},
            [
                f"{C}.restartPolicy: Required value: must specify restartPolicy when restart rules are used",
                f"{C}.restartPolicyRules[0].exitCodes: Required value: must be specified",
            ],
        ),
        (
            {
                "restartPolicy": "Never",
                "restartPolicyRules": [{"action": "Stop", "exitCodes": {"operator": "Equals", "values": [0] * 256}}],
            },
            [
                f'{C}.restartPolicyRules[0].action: Unsupported value: "Stop": '
                'supported values: "Restart", "RestartAllContainers"',
                f'{C}.restartPolicyRules[0].exitCodes.operator: Unsupported value: "Equals": '
                'supported values: "In", "NotIn"',
                f"{C}.restartPolicyRules[0].exitCodes.values: Too many: 256: must have at most 255 items",
            ],
        ),
        (
            {
                "restartPolicy": "Never",
                "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}] * 21,
            },
            [f"{C}.restartPolicyRules: Too many: 21: must have at most 20 items"],
        ),
    ],
)
def test_mistakes_in_a_container(fields: dict[str, Any], expected: list[str]) -> None:
    assert messages(container(**fields)) == expected


def test_a_name_is_used_once_in_the_whole_pod() -> None:
    pod = pod_of(
        {
            "containers": [{"name": "a"}, {"name": "a"}],
            "initContainers": [{"name": "a"}],
            "ephemeralContainers": [{"name": "a"}],
        }
    )
    assert messages(pod) == [
        'spec.containers[1].name: Duplicate value: "a"',
        'spec.initContainers[0].name: Duplicate value: "a"',
        'spec.ephemeralContainers[0].name: Duplicate value: "a"',
    ]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            {"restartPolicy": "always"},
            ['spec.restartPolicy: Unsupported value: "always": supported values: "Always", "OnFailure", "Never"'],
        ),
        (
            {"terminationGracePeriodSeconds": -1},
            ["spec.terminationGracePeriodSeconds: Invalid value: -1: must be greater than or equal to 0"],
        ),
        ({"terminationGracePeriodSeconds": 0}, []),
        (
            {"activeDeadlineSeconds": 0},
            ["spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"],
        ),
        ({"hostname": "A"}, [f'spec.hostname: Invalid value: "A": {LABEL}']),
    ],
)
def test_mistakes_in_the_pod_itself(spec: dict[str, Any], expected: list[str]) -> None:
    assert messages(pod_of({"containers": [{"name": "app"}], **spec})) == expected
