"""A namespace with the pods of these tests, in a cluster that has probelet."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TypeAlias

import pytest

from tests.cluster.disturbances.scene import Scene
from tests.cluster.installed import Installed
from tests.cluster.namespace import Namespace
from tests.cluster.record.recording import Recording
from tests.system.containerd.machine import until

Absence: TypeAlias = AbstractContextManager[None]


@pytest.fixture
def scene(probelet: Installed, namespace: Namespace) -> Iterator[Scene]:
    scene = Scene(namespace)
    # A fixture of the test may have given the agent another pod.
    until(probelet.is_ready, "the agent and the webhook")
    scene.begin()
    yield scene
    scene.close()


@pytest.fixture
def recording(namespace: Namespace) -> Iterator[Recording]:
    """All that happens to the namespace's pods, from the test's beginning to its end."""
    recording = Recording(namespace, namespace.cluster.folder / "scenes" / namespace.name, "disturbed")
    recording.begin()
    yield recording
    recording.end()


@pytest.fixture
def absence(probelet: Installed) -> Absence:
    """A node that has lost its agent; the webhook stays. In the end the agent is back."""
    return probelet.without_agent()
