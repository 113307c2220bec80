"""Where a sandbox's network namespace is, by what runtimes say."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from probelet.runtime.networks.place import NODE_ROOT, ClosedNetworkError, NetworkPlace, network_place

SANDBOX = "5f2a" * 16


def place(info: Any) -> NetworkPlace:
    return network_place(SANDBOX, info if isinstance(info, str) else json.dumps(info))


def spec(*namespaces: dict[str, str]) -> dict[str, Any]:
    return {"ociVersion": "1.2.0", "linux": {"namespaces": list(namespaces), "seccomp": {}}}


CNI = {"type": "network", "path": "/var/run/netns/cni-1"}


def test_containerd_and_crio_name_a_file() -> None:
    containerd = {"pid": 71, "runtimeType": "io.containerd.runc.v2", "runtimeSpec": spec({"type": "pid"}, CNI)}
    crio = {"image": "pause", "pid": 71, "runtimeSpec": spec(CNI)}
    # CRI-O without a first process for each pod (drop_infra_ctr, its default).
    for info in (containerd, crio, {"runtimeSpec": spec(CNI)}):
        found = place(info)
        assert (found.path, found.is_shared) == (CNI["path"], False)
        # Process 71 is not in a cgroup of this sandbox.
        assert list(found.candidates()) == [CNI["path"], NODE_ROOT + CNI["path"]]


def test_a_sandbox_without_a_network_of_its_own_is_on_the_nodes() -> None:
    assert place({"pid": 71, "runtimeSpec": spec({"type": "pid"})}).is_shared


def test_a_process_counts_only_in_the_cgroup_of_its_sandbox() -> None:
    found = place({"pid": os.getpid()})
    assert list(found.candidates()) == []
    own = Path(f"/proc/{os.getpid()}/cgroup").read_text()
    its = NetworkPlace(own.strip().rpartition(":")[2] or own, os.getpid(), "", is_shared=False)
    assert list(its.candidates()) == [f"/proc/{os.getpid()}/ns/net"]


@pytest.mark.parametrize(
    ("info", "why"),
    [
        ({"pid": 9, "runtimeType": "io.containerd.kata.v2", "runtimeSpec": spec(CNI)}, "a network stack of its own"),
        ({"pid": 9, "runtimeType": "io.containerd.runsc.v1", "runtimeSpec": spec(CNI)}, "a network stack of its own"),
        ("", "names neither the sandbox's namespace nor its process"),
        ("[]", "says nothing usable"),
        ({"pid": -1}, "says nothing usable"),
    ],
)
def test_what_cannot_be_entered_says_why(info: Any, why: str) -> None:
    with pytest.raises(ClosedNetworkError, match=why):
        place(info)
