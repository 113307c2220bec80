"""Resources, in Kubernetes' quantities, and the fields of security contexts that have no effect."""

from fractions import Fraction
from typing import Any

import pytest
from probelet.spec import ignored_fields
from probelet.spec.fields.support import RuntimeKind
from probelet.spec.rules.validate import validate
from probelet.spec.text.quantity import parse_quantity

from tests.unit.spec.pods import pod_of

C = "spec.containers[0]"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("100m", Fraction(1, 10)),
        ("0.5", Fraction(1, 2)),
        (2, Fraction(2)),
        (1.5, Fraction(3, 2)),
        ("64Mi", Fraction(64 * 2**20)),
        ("1Gi", Fraction(2**30)),
        ("5M", Fraction(5_000_000)),
        ("1e3", Fraction(1000)),
        ("1E3", Fraction(1000)),
        ("1E", Fraction(10**18)),
        ("12E-1", Fraction(6, 5)),
        (".5", Fraction(1, 2)),
        ("100n", Fraction(1, 10**7)),
    ],
)
def test_quantities(text: Any, value: Fraction) -> None:
    assert parse_quantity(text) == value


@pytest.mark.parametrize("text", ["", "1 Gi", "Mi", "1gi", "1mm", "--1", True, None, []])
def test_malformed_quantities(text: Any) -> None:
    with pytest.raises(ValueError, match="quantities must match the regular expression"):
        parse_quantity(text)


def pod(**fields: Any) -> Any:
    return pod_of({"containers": [{"name": "app", "image": "i:1", **fields}]})


def test_mistakes_of_resources() -> None:
    wrong = pod(resources={"limits": {"cpu": "1 core"}, "requests": {"memory": "-1Mi"}})
    assert [str(error) for error in validate(wrong)] == [
        f'{C}.resources.limits[cpu]: Invalid value: "1 core": quantities must match the regular expression '
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        f'{C}.resources.requests[memory]: Invalid value: "-1Mi": must be greater than or equal to 0',
    ]
    above = pod(resources={"limits": {"cpu": "1"}, "requests": {"cpu": "1100m"}})
    assert [str(error) for error in validate(above)] == [
        f'{C}.resources.requests: Invalid value: "1100m": must be less than or equal to cpu limit of 1'
    ]


def test_only_fields_that_reach_no_runtime_are_named() -> None:
    context = {"runAsUser": 5, "capabilities": {"drop": ["ALL"]}, "windowsOptions": {"hostProcess": True}}
    resources = {"limits": {"memory": "64Mi", "hugepages-2Mi": "4Mi", "ephemeral-storage": "1Gi"}}
    ours = pod(securityContext=context, resources=resources)
    assert [found.field for found in ignored_fields(ours, "cri")] == [
        f"{C}.resources.limits[ephemeral-storage]",
        f"{C}.securityContext.windowsOptions",
    ]
    assert {found.field for found in ignored_fields(ours, "process")} == {
        f"{C}.image",
        *(f"{C}.resources.limits[{name}]" for name in resources["limits"]),
        *(f"{C}.securityContext.{name}" for name in context),
    }


@pytest.mark.parametrize("runtime", ["cri", "process"])
def test_a_seccomp_annotation_has_no_function_any_more(runtime: RuntimeKind) -> None:
    key = "seccomp.security.alpha.kubernetes.io/pod"
    annotated = pod_of({"containers": [{"name": "app"}]}, annotations={key: "runtime/default", "other": "x"})
    (found,) = ignored_fields(annotated, runtime)
    assert found.field == f"metadata.annotations[{key}]"
    assert found.reason == 'non-functional in v1.27+; use the "seccompProfile" field instead'
