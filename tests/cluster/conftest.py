"""One cluster for all tests of this folder. Each test has a namespace of its own."""

import re
from collections.abc import Iterator

import pytest

from tests.cluster.cluster import Cluster, what_is_missing
from tests.cluster.namespace import Namespace
from tests.support.required import missing


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    if why := what_is_missing():
        missing("kubernetes", why)
    cluster = Cluster()
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def namespace(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Namespace]:
    """A namespace whose objects go after the test; nobody waits for their end."""
    words = re.sub("[^a-z0-9]+", "-", request.node.name.removeprefix("test_"))
    namespace = Namespace(cluster, words[:50].strip("-"))
    yield namespace
    namespace.delete()
