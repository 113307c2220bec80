"""An image registry beside the pods: Debian's docker-registry, on the loopback of their network namespace."""

import json
import subprocess
from pathlib import Path

from tests.system.containerd.image import APP
from tests.system.containerd.machine import Containerd, until

PORT = 5000
NAME = f"127.0.0.1:{PORT}/probelet/app"

CONFIG = {
    "version": 0.1,
    "log": {"level": "error"},
    "storage": {"filesystem": {"rootdirectory": ""}, "delete": {"enabled": True}},
    "http": {"addr": f"127.0.0.1:{PORT}"},
}


class Registry:
    """``push`` needs a registry that has been started; what was pushed outlasts its end."""

    def __init__(self, containerd: Containerd, folder: Path) -> None:
        self._containerd = containerd
        self._config = folder / "registry.yaml"
        self._log = folder / "registry.log"
        storage = {"filesystem": {"rootdirectory": str(folder / "registry")}}
        self._config.write_text(json.dumps(CONFIG | {"storage": storage}))
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [*self._containerd.inside, "docker-registry", "serve", str(self._config)]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        until(self._listens, f"the registry ({self._log})")

    def _listens(self) -> bool:
        return f":{PORT} " in self._containerd.command("ss", "-Htln")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def push(self, tag: str) -> str:
        """Put the tests' image there under a tag, and take the name away from the runtime; returns the name."""
        image = f"{NAME}:{tag}"
        self._containerd.ctr("images", "tag", "--force", APP, image)
        self._containerd.ctr("images", "push", "--plain-http", image)
        self._containerd.ctr("images", "rm", image)
        return image
