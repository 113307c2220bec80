"""Annotations for single containers: back-off curves and dependencies."""

from typing import Any

import msgspec
import pytest
from probelet.spec.annotation.backoff import chosen_curves
from probelet.spec.annotation.release_on import dependencies
from probelet.spec.model.pod import Pod

SECOND = 1_000_000_000
CURVE = "metadata.annotations[probelet.dev/backoff]: "
RELEASE = "metadata.annotations[probelet.dev/release-on]: "


def pod(**annotations: str) -> Pod:
    body: dict[str, Any] = {
        "metadata": {"name": "web", "namespace": "shop", "annotations": annotations},
        "spec": {"containers": [{"name": "app"}, {"name": "side"}], "initContainers": [{"name": "init"}]},
    }
    return msgspec.convert(body, Pod)


def test_curves_by_container() -> None:
    curves, errors = chosen_curves(pod(**{"probelet.dev/backoff": "app=1s/30s, init = 500ms / 1h"}))
    assert (curves, errors) == (
        {"app": (SECOND, 30 * SECOND), "init": (SECOND // 2, 3600 * SECOND)},
        [],
    )
    assert chosen_curves(pod()) == ({}, [])


LIST = "must be a list such as app=1s/30s,worker=30s/10m"
TWO = "must be two durations above zero, the first not longer, such as app=1s/30s,worker=30s/10m"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f'Invalid value: "": {LIST}'),
        ("app", f'Invalid value: "app": {LIST}'),
        ("db=1s/2s", 'Invalid value: "db=1s/2s": the pod has no such container'),
        ("app=1s/2s,app=1s/2s", 'Duplicate value: "app"'),
        ("app=1s", f'Invalid value: "app=1s": {TWO}'),
        ("app=1/2", f'Invalid value: "app=1/2": {TWO}'),
        ("app=0s/2s", f'Invalid value: "app=0s/2s": {TWO}'),
        ("app=3s/2s", f'Invalid value: "app=3s/2s": {TWO}'),
        ("app=1s/2s/3s", f'Invalid value: "app=1s/2s/3s": {TWO}'),
    ],
)
def test_a_malformed_curve(text: str, message: str) -> None:
    _, errors = chosen_curves(pod(**{"probelet.dev/backoff": text}))
    assert [str(error) for error in errors] == [CURVE + message]


def test_dependencies_by_container() -> None:
    text = "app=db/pg/readiness,side=infra/dns/server/liveness"
    found, errors = dependencies(pod(**{"probelet.dev/release-on": text}))
    assert errors == []
    assert found == {"app": ("shop/db", "pg", "readiness"), "side": ("infra/dns", "server", "liveness")}


@pytest.mark.parametrize("probe", ["pg/readiness", "db/pg/ready", "a/b/c/d/startup", "db//readiness"])
def test_a_malformed_dependency(probe: str) -> None:
    found, errors = dependencies(pod(**{"probelet.dev/release-on": f"app={probe}"}))
    detail = "must be [NAMESPACE/]POD/CONTAINER/TYPE, where TYPE is liveness, readiness or startup"
    assert (found, [str(error) for error in errors]) == ({}, [f'{RELEASE}Invalid value: "app={probe}": {detail}'])
