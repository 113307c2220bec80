"""``probelet run --kubelet-version``: the releases it accepts, and that probes follow the chosen one."""

import threading
from pathlib import Path
from typing import get_args

import pytest
from probelet._rust import Simulation
from probelet.cli.options import KubeletVersion
from probelet.config import VERSIONS, ConfigError, load_config

from tests.support.patience import PATIENCE_SECONDS
from tests.support.web import Reply, Request, Server
from tests.system.cli.conftest import Start, manifest

PROBE = """
    livenessProbe:
      httpGet: {host: 127.0.0.1, port: %d}
      periodSeconds: 1
"""


def test_the_flag_the_gates_and_the_core_know_the_same_releases() -> None:
    (literal, *_) = get_args(KubeletVersion)
    assert get_args(literal) == VERSIONS
    for version in VERSIONS:
        Simulation(kubelet_version=version)
    with pytest.raises(ValueError, match=f'kubelet_version: "1.33": must be one of {", ".join(VERSIONS)}'):
        Simulation(kubelet_version="1.33")


@pytest.mark.parametrize(
    ("gate", "defaults"),
    [
        ("ChangeContainerStatusOnKubeletRestart", (True, False, False, False, False)),
        ("ContainerRestartRules", (False, True, True, True, True)),
        ("RestartAllContainersOnContainerExits", (False, False, True, True, True)),
        ("SidecarContainers", (True, True, True, True, True)),
        ("ProbeTerminationGracePeriod", (True, True, True, True, True)),
        ("H2CContainerProbe", (False, False, False, False, False)),
        ("GRPCContainerProbeTLS", (False, False, False, False, False)),
    ],
)
def test_each_release_has_its_gate_defaults(gate: str, defaults: tuple[bool, ...]) -> None:
    assert tuple(load_config(None, kubelet_version=version).gates[gate] for version in VERSIONS) == defaults


def test_a_gate_of_a_later_release_is_unknown() -> None:
    with pytest.raises(ConfigError, match="unrecognized feature gate: H2CContainerProbe"):
        load_config(None, feature_gates="H2CContainerProbe=false", kubelet_version="1.36")
    load_config(None, feature_gates="H2CContainerProbe=false", kubelet_version="1.37")


@pytest.mark.e2e
@pytest.mark.parametrize("version", ["1.34", "1.38"])
def test_probes_follow_the_chosen_release(start: Start, tmp_path: Path, marker: str, version: str) -> None:
    asked = threading.Event()

    def answer(request: Request) -> Reply:
        asked.set()
        return 200, {}, ""

    with Server(answer) as server:
        path = tmp_path / "web.yaml"
        path.write_text(manifest("web", marker, grace=2, probe=PROBE % server.port))
        start(str(path), "--kubelet-version", version)
        assert asked.wait(PATIENCE_SECONDS)
    assert server.requests[0].values("User-Agent") == [f"kube-probe/{version}"]
