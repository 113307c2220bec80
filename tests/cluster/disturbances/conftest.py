"""A namespace with the pods of these tests, in a cluster that has probelet."""

from collections.abc import Iterator

import pytest

from tests.cluster.disturbances.scene import Scene
from tests.cluster.installed import Installed
from tests.cluster.namespace import Namespace


@pytest.fixture
def scene(probelet: Installed, namespace: Namespace) -> Iterator[Scene]:
    assert probelet.is_ready()
    scene = Scene(namespace)
    scene.begin()
    yield scene
    scene.close()
