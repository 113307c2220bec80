"""The console blocks of a page that are run in the cluster, and what their commands print."""

import re
import subprocess

from tests.cluster.cluster import Cluster
from tests.support.paths import ROOT
from tests.system.containerd.image import layer_of, write_images
from tests.system.containerd.machine import BUSYBOX
from tests.tidy.pages.test_docs import FENCE, NOT_RUN, commands, missing, shape

OURS = "tests/cluster runs it"
"""The reason that a page gives for the blocks that are run here."""
BUSYBOX_IMAGE = "docker.io/library/busybox:1.36"
COMMAND_SECONDS = 150

GENERATED = re.compile(r"\b(web|guarded)-[a-z0-9-]+")
"""The names of the pods and requests of the pages' workloads. The order of two pods is the order of their names."""


class Page:
    """A page below docs/. ``replaced`` is what its commands apply, ``by`` what they apply here."""

    def __init__(self, cluster: Cluster, name: str, replaced: str, by: str) -> None:
        self.text = (ROOT / "docs" / name).read_text()
        self._cluster, self._replaced, self._by = cluster, replaced, by
        cluster.runtime.import_image(
            write_images(cluster.folder / "busybox.tar", layer_of(BUSYBOX, {}), [(BUSYBOX_IMAGE, ["sh"], "")])
        )

    def blocks(self) -> list[str]:
        """The blocks, in their order."""
        reasons = ((NOT_RUN.search(self.text[: match.start()]), match["text"]) for match in FENCE.finditer(self.text))
        return [text for reason, text in reasons if reason and reason["reason"].startswith(OURS)]

    def shown(self, block: str) -> list[str]:
        """What each command of a block prints. Each has to exit with 0, and to print the lines that the page shows."""
        printed = []
        for command in commands(block):
            shell = re.sub(rf"{re.escape(self._replaced)}(?=\s|$)", self._by, command.shell)
            cluster = self._cluster
            environment = [f"PATH={cluster.assets}:/usr/bin:/bin", f"KUBECONFIG={cluster.control.kubeconfig}"]
            whole = [*cluster.space.inside, "env", *environment, "bash", "-c", f"cd {ROOT} && {shell}"]
            done = subprocess.run(whole, capture_output=True, text=True, timeout=COMMAND_SECONDS)
            assert done.returncode == 0, f"{shell}: {done.stdout}{done.stderr}"
            printed_lines = "\n".join(without_names(done.stdout.splitlines()))
            assert missing(without_names(command.shown), printed_lines) == [], shell
            printed.append(done.stdout.strip())
        return printed


def without_names(lines: list[str]) -> list[str]:
    """The lines without the names that are generated, in an order that does not depend on them."""
    return sorted(shape(GENERATED.sub(r"\1-NAME", line)) for line in lines)
