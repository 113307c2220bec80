"""Containers that may not be root: the cases of the kubelet's security_context_test.go, 1.36."""

from typing import Any

import pytest
from probelet.node.effects.environment.config_error import ContainerConfigError
from probelet.node.effects.linux.run_as import ImageUser, check_non_root, image_user
from probelet.runtime.cri.v1 import api_pb2

from tests.unit.node.effects.linux.pods import pod_of

ROOT, APP, NAMED = ImageUser(uid=0), ImageUser(uid=1000), ImageUser(name="app")
PLACE = '(pod: "web_default(u1)", container: app)'
WILL_BE_ROOT = f"container has runAsNonRoot and image will run as root {PLACE}"
BREAKS = f"container's runAsUser breaks non-root policy {PLACE}"


def refusal(own: dict[str, Any], user: ImageUser, of_pod: dict[str, Any] | None = None) -> str:
    pod = pod_of({"securityContext": own}, securityContext=of_pod or {})
    try:
        check_non_root(pod, pod.spec.containers[0], user)
    except ContainerConfigError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("own", "user", "of_pod", "message"),
    [
        ({}, ROOT, {}, ""),
        ({"runAsNonRoot": False}, ROOT, {}, ""),
        ({"runAsNonRoot": True}, APP, {}, ""),
        ({"runAsNonRoot": True}, ROOT, {}, WILL_BE_ROOT),
        ({"runAsNonRoot": True, "runAsUser": 5}, ROOT, {}, ""),
        ({"runAsNonRoot": True, "runAsUser": 0}, APP, {}, BREAKS),
        ({}, ROOT, {"runAsNonRoot": True}, WILL_BE_ROOT),
        ({}, APP, {"runAsNonRoot": True, "runAsUser": 0}, BREAKS),
        ({"runAsUser": 5}, ROOT, {"runAsNonRoot": True, "runAsUser": 0}, ""),
        ({"runAsNonRoot": False}, ROOT, {"runAsNonRoot": True}, ""),
        (
            {"runAsNonRoot": True},
            NAMED,
            {},
            "container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root " + PLACE,
        ),
        (
            {"runAsNonRoot": True},
            ImageUser(uid=2**31),
            {},
            "container has runAsNonRoot and image has an invalid user id (2147483648). (Must be 1-(2147483647)): must "
            f"be between 0 and 2147483647, inclusive {PLACE}",
        ),
    ],
)
def test_a_container_that_is_or_may_be_root_is_refused(
    own: dict[str, Any], user: ImageUser, of_pod: dict[str, Any], message: str
) -> None:
    assert refusal(own, user, of_pod) == message


def test_an_image_without_a_user_is_root() -> None:
    assert image_user(None) == image_user(api_pb2.Image(id="i")) == ROOT
    assert image_user(api_pb2.Image(uid=api_pb2.Int64Value(value=1000), username="app")) == APP
    assert image_user(api_pb2.Image(uid=api_pb2.Int64Value(value=0))) == ROOT
    assert image_user(api_pb2.Image(username="app")) == NAMED
