"""Images from a registry: present, missing, and from a registry that starts late."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.required import missing
from tests.system.containerd.machine import Containerd
from tests.system.containerd.node import ContainerdNode
from tests.system.containerd.registry import NAME, Registry

pytestmark = pytest.mark.e2e

SLEEP = ["sleep", "1000"]


@pytest.fixture
def registry(containerd: Containerd, tmp_path: Path) -> Iterator[Registry]:
    if shutil.which("docker-registry") is None:
        missing("containerd", "no docker-registry; on Debian: apt-get install docker-registry")
    registry = Registry(containerd, tmp_path)
    registry.start()
    yield registry
    registry.stop()


def test_an_image_is_pulled_once_and_a_moving_tag_is_pulled_again(node: ContainerdNode, registry: Registry) -> None:
    fixed, moving = registry.push("1"), registry.push("latest")
    node.run(
        "web", {"name": "app", "image": fixed, "command": SLEEP}, {"name": "moving", "image": NAME, "command": SLEEP}
    )
    node.start()
    node.until(lambda: node.pod("web")["ready"], "a ready pod")
    assert node.events("Pulling", "app") == [f'Pulling image "{fixed}"']
    (pulled,) = node.events("Pulled", "app")
    assert pulled.startswith(f'Successfully pulled image "{fixed}" in ')
    assert moving == f"{NAME}:latest"
    assert node.events("Pulling", "moving") == [f'Pulling image "{NAME}"']
    # A second pod uses both images: one is present, and the runtime pulls the other again.
    node.run(
        "again", {"name": "one", "image": fixed, "command": SLEEP}, {"name": "two", "image": NAME, "command": SLEEP}
    )
    node.until(lambda: node.pod("again")["ready"], "another ready pod")
    assert node.events("Pulled", "one") == [
        f'Container image "{fixed}" already present on machine and can be accessed by the pod'
    ]
    assert node.events("Pulling", "two") == [f'Pulling image "{NAME}"']


def test_a_pull_that_fails_waits_and_is_tried_again(node: ContainerdNode, registry: Registry) -> None:
    late = registry.push("late")
    registry.stop()
    node.run(
        "web",
        {"name": "app", "image": late, "command": SLEEP},
        {"name": "never", "image": f"{NAME}:nowhere", "imagePullPolicy": "Never", "command": SLEEP},
        {"name": "bad", "image": "Not/An/Image", "command": SLEEP},
    )
    node.start()
    node.until(lambda: node.container("web")["reason"] == "ImagePullBackOff", "the back-off of the pull")
    assert node.events("Failed", "app")[0].startswith(f'Failed to pull image "{late}": ')
    assert node.events("BackOff", "app") == [f'Back-off pulling image "{late}"']
    assert node.container("web")["backoff"]["delay_seconds"] == 10
    assert node.container("web", "never")["reason"] == "ErrImageNeverPull"
    assert node.container("web", "bad")["reason"] == "InvalidImageName"
    registry.start()
    node.until(lambda: node.container("web")["state"] == "running", "the pull that succeeds")
    assert node.container("web")["restart_count"] == 0
