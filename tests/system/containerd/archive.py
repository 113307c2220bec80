"""An archive for ``ctr images import`` with an image of one layer for each name."""

import hashlib
import io
import json
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tools.image.archive import ARCHITECTURE

PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Image:
    """One image: its files, and what its container runs if the pod says nothing."""

    name: str
    layer: bytes
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    user: str = ""
    path: str = PATH

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.layer).hexdigest()

    def config(self) -> bytes:
        config = {"Env": [self.path], "WorkingDir": "/", "User": self.user}
        config |= {"Entrypoint": list(self.entrypoint), "Cmd": list(self.command)}
        image = {"architecture": ARCHITECTURE, "os": "linux", "created": "1970-01-01T00:00:00Z", "config": config}
        image |= {"rootfs": {"type": "layers", "diff_ids": [f"sha256:{self.digest}"]}}
        return json.dumps({**image, "history": [{"created_by": self.name}]}).encode()


class Layer:
    """The files of an image, in the order in which they are added."""

    def __init__(self) -> None:
        self._buffer = io.BytesIO()
        self._tar = tarfile.open(fileobj=self._buffer, mode="w")  # noqa: SIM115 (closed by `data`)

    def folder(self, name: str, mode: int = 0o755) -> None:
        _add(self._tar, name, kind=tarfile.DIRTYPE, mode=mode)

    def file(self, name: str, data: bytes, mode: int = 0o644) -> None:
        _add(self._tar, name, data, mode=mode)

    def link(self, name: str, target: str) -> None:
        _add(self._tar, name, kind=tarfile.SYMTYPE, link=target, mode=0o777)

    def data(self) -> bytes:
        self._tar.close()
        return self._buffer.getvalue()


def write(archive: Path, images: Iterable[Image]) -> Path:
    """Write the archive and return its path; images with equal layers share one file."""
    rows, layers = [], set()
    with tarfile.open(archive, "w") as tar:
        for image in images:
            layer, config = f"{image.digest}/layer.tar", image.config()
            if layer not in layers:
                layers.add(layer)
                _add(tar, layer, image.layer)
            name = f"{hashlib.sha256(config).hexdigest()}.json"
            _add(tar, name, config)
            rows.append({"Config": name, "RepoTags": [image.name], "Layers": [layer]})
        _add(tar, "manifest.json", json.dumps(rows).encode())
    return archive


def _add(
    tar: tarfile.TarFile,
    name: str,
    data: bytes = b"",
    *,
    mode: int = 0o644,
    kind: bytes = tarfile.REGTYPE,
    link: str = "",
) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.type, entry.linkname = len(data), mode, kind, link
    tar.addfile(entry, io.BytesIO(data) if data else None)
