"""A namespace with the pods of these tests, in a cluster that has probelet."""

from collections.abc import Iterator

import pytest

from tests.cluster.disturbances.scene import Scene
from tests.cluster.installed import Installed
from tests.cluster.namespace import Namespace
from tests.system.containerd.machine import until


@pytest.fixture
def scene(probelet: Installed, namespace: Namespace) -> Iterator[Scene]:
    scene = Scene(namespace)
    # A fixture of the test may have given the agent another pod.
    until(probelet.is_ready, "the agent and the webhook")
    scene.begin()
    yield scene
    scene.close()
