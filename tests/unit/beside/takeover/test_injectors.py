"""Pods that Istio and Linkerd inject, in both orders.

``golden/`` has the pods as they are stored in the end. ``GOLDEN=write`` writes them again, for a person to compare.
"""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import yaml

from tests.unit.beside.takeover.injectors import istio, istio_native_sidecar, linkerd, linkerd_native_sidecar
from tests.unit.beside.takeover.pods import (
    LIVENESS,
    READINESS,
    STARTUP,
    Json,
    called,
    container,
    made,
    moved,
    native,
    pod,
)

GOLDEN = Path(__file__).parent / "golden"

Injector = Callable[[Json], Json]

INJECTORS = pytest.mark.parametrize("injector", [istio, istio_native_sidecar, linkerd, linkerd_native_sidecar])


def shop() -> Json:
    return pod(container("shop", livenessProbe=LIVENESS, readinessProbe=READINESS, startupProbe=STARTUP))


def golden(name: str, stored: Json) -> None:
    path = GOLDEN / f"{name}.yaml"
    if os.environ.get("GOLDEN") == "write":
        # Without the round trip through JSON the text would have aliases for shared parts.
        plain = msgspec.json.decode(msgspec.json.encode(stored))
        path.write_text(yaml.safe_dump(plain, sort_keys=False, width=10_000))
    assert yaml.safe_load(path.read_text()) == stored


@INJECTORS
def test_the_injector_first(injector: Injector) -> None:
    stored, _ = called(injector(shop()))
    golden(f"{injector.__name__}_first", stored)


@INJECTORS
def test_the_injector_last_and_our_webhook_again(injector: Injector) -> None:
    first, _ = called(shop())
    stored, _ = called(injector(first))
    golden(f"{injector.__name__}_last", stored)


@INJECTORS
def test_no_probe_is_lost_or_run_twice(injector: Injector) -> None:
    expected = set(native(injector(shop())))
    for stored in (called(injector(shop()))[0], called(injector(called(shop())[0]))[0]):
        ours = {f"{name}/{field.removesuffix('Probe')}" for name, probes in moved(stored).items() for field in probes}
        assert ours | set(native(stored)) == expected
        assert not ours & set(native(stored))


def test_istio_rewrites_probes_only_if_it_comes_first() -> None:
    # Why the webhook's configuration has a name that sorts behind those of injectors: an agent that dials the
    # application's own port is turned away where the mesh asks for mutual TLS.
    first = moved(called(istio(shop()))[0])["shop"]["livenessProbe"]["httpGet"]
    assert first == {"path": "/app-health/shop/livez", "port": 15020, "scheme": "HTTP"}
    last = moved(called(istio(called(shop())[0]))[0])["shop"]["livenessProbe"]["httpGet"]
    assert last == LIVENESS["httpGet"]


@pytest.mark.parametrize(
    ("injector", "proxy"), [(istio_native_sidecar, "istio-proxy"), (linkerd_native_sidecar, "linkerd-proxy")]
)
def test_a_native_sidecar_keeps_the_startup_probe_that_orders_the_start(injector: Injector, proxy: str) -> None:
    stored, answer = called(injector(shop()))
    assert "readinessProbe" in moved(stored)[proxy]
    assert native(stored) == [f"{proxy}/startup", "shop/startup"]
    assert (made(stored), answer.warnings) == ({}, ())
