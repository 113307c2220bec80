"""One cluster for all tests of this folder. Each test has a namespace of its own."""

import itertools
import re
from collections.abc import Iterator

import pytest

from tests.cluster.cluster import Cluster, what_is_missing
from tests.cluster.installed import IMAGE, READY_SECONDS, Installed
from tests.cluster.namespace import Namespace
from tests.support.paths import BUILD
from tests.support.required import missing
from tests.system.containerd.machine import until

NAME_MAX = 40
"""So much of a test's name is in the name of its namespace."""
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """The tests of a folder may ask for more nodes than one, by a parameter."""
    if why := what_is_missing():
        missing("kubernetes", why)
    cluster = Cluster(getattr(request, "param", 1))
    try:
        cluster.start()
        yield cluster
        cluster.keep_logs(BUILD / "cluster" / "logs")
    finally:
        cluster.stop()


@pytest.fixture(scope="session")
def installed(cluster: Cluster) -> Installed:
    """The agent and the webhook in that cluster."""
    if not IMAGE.exists():
        missing("image", f"no {IMAGE}, which `make image` makes")
    installed = Installed(cluster)
    installed.install()
    return installed


@pytest.fixture(scope="session")
def enhanced(installed: Installed) -> Installed:
    """Two controllers beside the agent and the webhook."""
    installed.enhance()
    return installed


@pytest.fixture
def probelet(installed: Installed) -> Installed:
    """The agent and the webhook, ready again whatever the test before did."""
    until(installed.is_ready, "the agent and the webhook to be ready again", READY_SECONDS)
    return installed


@pytest.fixture
def namespace(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Namespace]:
    """A namespace whose objects go after the test; nobody waits for their end."""
    words = re.sub("[^a-z0-9]+", "-", request.node.name.removeprefix("test_"))
    namespace = Namespace(cluster, f"{words[:NAME_MAX].strip('-')}-{next(_numbers)}")
    yield namespace
    namespace.delete()
