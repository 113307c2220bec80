"""One cluster whose kubelet has ``probelet serve`` as its prober; nothing else of probelet is in it."""

import shutil
from collections.abc import Iterator

import pytest

from tests.cluster.cluster import Cluster, what_is_missing
from tests.cluster.disturbances.scene import Scene
from tests.cluster.namespace import Namespace
from tests.cluster.served.prober import ServedProber
from tests.support.paths import BUILD
from tests.support.required import missing


@pytest.fixture(scope="package")
def prober(tmp_path_factory: pytest.TempPathFactory) -> ServedProber:
    return ServedProber(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="package")
def cluster(prober: ServedProber) -> Iterator[Cluster]:
    if why := what_is_missing() or ("no go, which builds that kubelet" if shutil.which("go") is None else ""):
        missing("kubernetes", why)
    cluster = prober.cluster()
    try:
        cluster.start()
        prober.start(cluster)
        yield cluster
        cluster.keep_logs(BUILD / "cluster" / "logs")
    finally:
        cluster.stop()


@pytest.fixture(params=["full", "kubelet"])
def restore(cluster: Cluster, prober: ServedProber, request: pytest.FixtureRequest) -> str:
    """What a killed service remembers: the key `restore` of its configuration."""
    remembers = str(request.param)
    prober.kill(forget=True)
    prober.start(cluster, remembers)
    return remembers


@pytest.fixture
def scene(restore: str, namespace: Namespace) -> Iterator[Scene]:
    """Pods whose probes were never made by another service than that one."""
    scene = Scene(namespace)
    scene.begin()
    yield scene
    scene.close()
