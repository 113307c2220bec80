"""A control plane for the tests of this folder: etcd, API server, controller manager and scheduler, no node.

It ends with the last of them: idle it takes a tenth of a core."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.cluster.cluster import what_is_missing
from tests.cluster.control_plane.plane import ControlPlane, Kubectl
from tests.cluster.machine.space import Space
from tests.support.required import missing
from tests.system.deploy.programs import kubernetes
from tests.unit.deploy.manifests.manifest import BASE


@dataclass(frozen=True)
class Administrator:
    """A control plane and the kubectl of its administrator."""

    control: ControlPlane
    kubectl: Kubectl


@pytest.fixture(scope="package")
def administrator() -> Iterator[Administrator]:
    """The control plane of this folder. Its tests are skipped where there can be none."""
    if why := what_is_missing():
        missing("kubernetes", why)
    assets, space = kubernetes(), Space()
    control: ControlPlane | None = None
    try:
        space.start()
        control = ControlPlane(space, assets)
        control.start()
        yield Administrator(control, Kubectl(space, assets, control.kubeconfig))
    finally:
        space.stop()
        if control is not None:
            for program in control.programs:
                program.wait()
            control.api.close()


@pytest.fixture(scope="package")
def kubectl(administrator: Administrator) -> Kubectl:
    """The kubectl of an administrator."""
    return administrator.kubectl


@pytest.fixture(scope="package")
def applied(kubectl: Kubectl) -> Kubectl:
    """The same after the base was applied, as people apply it."""
    kubectl("apply", "-k", BASE)
    return kubectl
