"""The pods that both sides run. ``PODS`` has them by name."""

from tests.kubelet.beside.pods import changes, containers, ends, probes
from tests.kubelet.beside.pods.make import Object, container, pod

NAMES_OF_FILES = {"file-without-suffix": "file-without-suffix", "file-broken": "file-broken.yaml"}
"""Pods whose files have other names than NAME.yaml. The file of ``file-broken`` becomes unreadable later."""

FILES = [pod("file-without-suffix", container()), pod("file-broken", container())]

PODS: dict[str, Object] = {
    one["metadata"]["name"]: one for one in [*probes.PODS, *ends.PODS, *containers.PODS, *changes.PODS, *FILES]
}
