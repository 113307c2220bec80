"""A root file system on its way into the image, and the Python that it has."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

LOADERS = ("lib64/ld-linux-x86-64.so.2", "lib/ld-linux-aarch64.so.1")
"""The dynamic loader of glibc, by architecture; the wheels of the lock file are built for glibc."""


class ImageError(Exception):
    """The image was not made; the message is one line for the person who runs make."""


@dataclass(frozen=True)
class Root:
    """A folder with the root file system that the image begins with."""

    folder: Path

    @property
    def python(self) -> Path:
        """The interpreter's path in the image, as ``/usr/bin/python3.11``. Raises ImageError without one."""
        names = [path.name for path in self.folder.glob("usr/bin/python3.*")]
        found = [name for name in names if re.fullmatch(r"python3\.\d+", name)]
        if not found:
            raise ImageError(
                f"{self.folder}: no usr/bin/python3.N; the base of the image must have Python 3.11 or newer"
            )
        newest = max(found, key=lambda name: int(name.partition(".")[2]))
        if int(newest.partition(".")[2]) < 11:
            raise ImageError(f"{self.folder}: {newest} is the newest Python of the base; probelet needs 3.11 or newer")
        return Path("/usr/bin", newest)

    def run_python(self, *arguments: str | Path, path: str = "") -> str:
        """Runs the image's interpreter with the image's own loader and C library, so that neither root nor an equal
        machine is needed; ``path`` becomes PYTHONPATH. Returns what it prints. Raises ImageError."""
        variables = {"PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": path, "HOME": os.devnull}
        # pip reads these: an index of its own, certificates, a proxy.
        variables |= {
            name: value for name, value in os.environ.items() if name.startswith("PIP_") or "proxy" in name.lower()
        }
        command = [*self._loader(), str(self.folder / self.python.relative_to("/")), *map(str, arguments)]
        ended = subprocess.run(command, env=variables, capture_output=True, text=True)
        if ended.returncode:
            raise ImageError(f"failed: {' '.join(command)}\n{ended.stdout}{ended.stderr}".rstrip())
        return ended.stdout

    def _loader(self) -> list[str]:
        found = [self.folder / loader for loader in LOADERS if (self.folder / loader).exists()]
        if not found:
            raise ImageError(f"{self.folder}: no {' or '.join(LOADERS)}; the base of the image must be a glibc system")
        libraries = [
            str(path)
            for pattern in ("lib/*-linux-gnu", "usr/lib/*-linux-gnu", "lib64", "usr/lib64")
            for path in self.folder.glob(pattern)
        ]
        return [str(found[0]), "--library-path", ":".join(libraries)]
