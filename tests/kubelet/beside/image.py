"""The image of the pods: the target beside busybox. Two names, so that a manifest can change its image."""

from pathlib import Path

from tests.kubelet.beside.pods.make import IMAGE, OTHER_IMAGE, TARGET
from tests.system.containerd.image import layer_of, write_images

IMAGES = ((IMAGE, ["/bin/sh"], ""), (OTHER_IMAGE, ["/bin/sh", "-i"], ""))


def build_image(folder: Path, busybox: Path, target: Path) -> Path:
    """Write an archive for ``ctr images import``."""
    return write_images(folder / "beside.tar", layer_of(busybox, {TARGET.removeprefix("/bin/"): target}), IMAGES)
