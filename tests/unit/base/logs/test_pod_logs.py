"""Which container and which instance a reader gets, in the words of kubectl and the kubelet."""

from pathlib import Path

import pytest
from probelet.base.logs.layout import PodDirectory
from probelet.base.logs.pod_logs import ContainerLogs, NoLogError, PodLogs, UnknownContainerError

APP = ContainerLogs("app", state="running", restart_count=3, has_exited=True)


def pod(*containers: ContainerLogs, default: str = "") -> PodLogs:
    return PodLogs(Path("/logs"), PodDirectory("default", "web", "u"), containers, default)


THREE = (ContainerLogs("migrate", "init"), ContainerLogs("app"), ContainerLogs("proxy"))


@pytest.mark.parametrize(
    ("default", "asked", "chosen", "note"),
    [
        ("", None, "app", 'Defaulted container "app" out of: app, proxy, migrate (init)'),
        ("", "migrate", "migrate", ""),
        ("proxy", None, "proxy", ""),
        ("proxy", "app", "app", ""),
        (
            "gone",
            None,
            "app",
            'Default container name "gone" not found in pod web\n'
            'Defaulted container "app" out of: app, proxy, migrate (init)',
        ),
    ],
)
def test_the_container_is_chosen_as_by_kubectl(default: str, asked: str | None, chosen: str, note: str) -> None:
    found, said = pod(*THREE, default=default).choose(asked)
    assert (found.name, said) == (chosen, note)


def test_an_only_container_needs_no_note() -> None:
    assert pod(APP).choose(None) == (APP, "")


def test_an_unknown_container_is_refused_with_the_names() -> None:
    with pytest.raises(UnknownContainerError) as caught:
        pod(*THREE).choose("nope")
    assert str(caught.value) == "container nope is not valid for pod web out of: app, proxy, migrate (init)"


@pytest.mark.parametrize(
    ("container", "previous", "expected"),
    [
        (APP, False, 3),
        (APP, True, 2),
        (ContainerLogs("app", state="running"), False, 0),
        (ContainerLogs("app", state="running"), True, 'previous terminated container "app" in pod "web" not found'),
        # It waits for its restart: the instance that ended is the present one and the previous one.
        (ContainerLogs("app", state="waiting", reason="CrashLoopBackOff", restart_count=3, has_exited=True), False, 3),
        (ContainerLogs("app", state="waiting", reason="CrashLoopBackOff", restart_count=3, has_exited=True), True, 3),
        (
            ContainerLogs("app", state="waiting", reason="ContainerCreating"),
            False,
            'container "app" in pod "web" is waiting to start: ContainerCreating',
        ),
        (
            ContainerLogs("app", state="waiting", reason="ImagePullBackOff"),
            False,
            'container "app" in pod "web" is waiting to start: trying and failing to pull image',
        ),
        (
            ContainerLogs("app", state="waiting", reason="ContainerCreating"),
            True,
            'previous terminated container "app" in pod "web" not found',
        ),
        # No service tells a state: the files do.
        (ContainerLogs("app"), False, 3),
        (ContainerLogs("app"), True, 2),
    ],
)
def test_the_instance_is_chosen_as_by_the_kubelet(
    container: ContainerLogs, previous: bool, expected: int | str
) -> None:
    if isinstance(expected, int):
        assert pod(container).instance(container, [2, 3], previous=previous) == expected
    else:
        with pytest.raises(NoLogError) as caught:
            pod(container).instance(container, [2, 3], previous=previous)
        assert str(caught.value) == expected
