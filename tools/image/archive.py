"""The image as one file: an OCI layout, which containerd, podman and skopeo read, with the list for `docker load`."""

import hashlib
import io
import json
import platform
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tools.image.environment import LAYOUT, USER_IDS
from tools.image.layer import Layer

ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
"""This machine's architecture as images name it: the interpreter of the image runs while the image is made."""

ENTRYPOINT = [str(LAYOUT.launcher)]
COMMAND = ["--help"]
ENVIRONMENT = ["PATH=/usr/bin", "LANG=C.UTF-8", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"]

MEDIA = "application/vnd.oci.image"


@dataclass(frozen=True)
class Blob:
    """A JSON document of the layout."""

    data: bytes

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    def descriptor(self, kind: str) -> dict[str, Any]:
        return {"mediaType": f"{MEDIA}.{kind}", "digest": f"sha256:{self.digest}", "size": len(self.data)}


def labels(version: str) -> dict[str, str]:
    """The labels of the image, by the keys of the OCI image specification."""
    return {
        "org.opencontainers.image.title": "probelet",
        "org.opencontainers.image.description": "probelet agent, webhook and controller",
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.version": version,
    }


def configuration(layers: Mapping[str, Layer], version: str, epoch: int) -> dict[str, Any]:
    """The image's configuration; ``layers`` by what made each of them, the lowest first."""
    created = datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "architecture": ARCHITECTURE,
        "os": "linux",
        "created": created,
        "config": {
            "User": USER_IDS,
            "Env": ENVIRONMENT,
            "Entrypoint": ENTRYPOINT,
            "Cmd": COMMAND,
            "WorkingDir": "/",
            "Labels": labels(version),
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer.diff_id}" for layer in layers.values()]},
        "history": [{"created": created, "created_by": f"make image: {name}"} for name in layers],
    }


def write_archive(file: Path, name: str, layers: Mapping[str, Layer], version: str, epoch: int) -> str:
    """Writes the image with the reference ``name``; returns the digest of its manifest."""
    config = _json(configuration(layers, version, epoch))
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": f"{MEDIA}.manifest.v1+json",
            "config": config.descriptor("config.v1+json"),
            "layers": [
                {"mediaType": f"{MEDIA}.layer.v1.tar+gzip", "digest": f"sha256:{layer.digest}", "size": layer.bytes}
                for layer in layers.values()
            ],
        }
    )
    # containerd and BuildKit read the whole name from the first annotation, other programs from the second.
    names = {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name}
    entry = {
        **manifest.descriptor("manifest.v1+json"),
        "annotations": names,
        "platform": {"architecture": ARCHITECTURE, "os": "linux"},
    }
    index = {"schemaVersion": 2, "mediaType": f"{MEDIA}.index.v1+json", "manifests": [entry]}
    docker = {
        "Config": _blob(config.digest),
        "RepoTags": [name],
        "Layers": [_blob(one.digest) for one in layers.values()],
    }
    new = file.with_name(f"{file.name}.new")
    with tarfile.open(new, "w", format=tarfile.PAX_FORMAT) as tar:
        _add(tar, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}', epoch)
        _add(tar, "index.json", _json(index).data, epoch)
        _add(tar, "manifest.json", _json([docker]).data, epoch)
        for blob in (config, manifest):
            _add(tar, _blob(blob.digest), blob.data, epoch)
        for layer in layers.values():
            _add(tar, _blob(layer.digest), layer.file.read_bytes(), epoch)
    new.rename(file)
    return manifest.digest


def _json(document: object) -> Blob:
    return Blob(json.dumps(document, sort_keys=True, separators=(",", ":")).encode())


def _blob(digest: str) -> str:
    return f"blobs/sha256/{digest}"


def _add(tar: tarfile.TarFile, name: str, data: bytes, epoch: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = len(data), 0o644, epoch
    tar.addfile(entry, io.BytesIO(data))
