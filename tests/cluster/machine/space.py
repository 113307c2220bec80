"""The namespaces of one cluster: of its control plane and its first node. What runs further nodes is below them."""

import json
import subprocess
import sys
from pathlib import Path

from tests.cluster.machine.namespaces import Namespaces
from tests.support.paths import ROOT
from tests.support.patience import PATIENCE_SECONDS

PROGRAMS = ("ip", "nsenter", "setpriv", "unshare")
"""Programs of iproute2 and util-linux."""


class Space(Namespaces):
    """Namespaces between ``start`` and ``stop``. They go when this process ends, however it ends."""

    def __init__(self) -> None:
        super().__init__()
        self._keeper: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Raises RuntimeError where a namespace cannot be made."""
        command = [sys.executable, "-m", "tests.cluster.machine.keeper"]
        pipe = subprocess.PIPE
        self._keeper = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)
        assert self._keeper.stdout is not None
        line = self._keeper.stdout.readline()
        if not line:
            raise RuntimeError(f"the keeper of the namespaces ended with {self._keeper.wait()}")
        made = json.loads(line)
        self.folder, self.first = Path(made["folder"]), made["pid"]

    def stop(self) -> None:
        """End everything inside, and put back what it changed of the machine."""
        if self._keeper is not None:
            self._keeper.communicate(timeout=PATIENCE_SECONDS)

    @property
    def cgroup(self) -> str:
        return self.folder.name

    @property
    def inside(self) -> list[str]:
        return ["nsenter", f"--target={self.first}", "--pid", "--mount", "--net", "--"]
