"""The images of the containerd tests; the tests build the images and fetch nothing.

One layer: Debian's static busybox with its applets, our own static C programs, and where there is Go a program that
speaks TLS. Every name shares it; the sandbox's image only sleeps, and two images name a user.
"""

import hashlib
import io
import json
import os
import platform
import shutil
import subprocess
import tarfile
from pathlib import Path

from tests.support.paths import ROOT

SOURCES = ROOT / "tests" / "support" / "target"
PROGRAMS = ("target", "health")
TLS_FRONT = ROOT / "tests" / "support" / "tls_front" / "main.go"

APP = "docker.io/probelet/app:1"
PAUSE = "docker.io/probelet/pause:1"
NUMBERED = "docker.io/probelet/numbered:1"
"""Its user is 1234."""
NAMED = "docker.io/probelet/named:1"
"""Its user is ``app``, which only the image could resolve."""

IMAGES = (
    (APP, ["/bin/sh"], ""),
    (PAUSE, ["/bin/sleep", "2147483647"], ""),
    (NUMBERED, ["/bin/sh"], "1234"),
    (NAMED, ["/bin/sh"], "app"),
)

ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def build_images(folder: Path, busybox: Path) -> Path:
    """Write an archive for ``ctr images import``. Raises CalledProcessError without a static libc."""
    layer = _layer(folder, busybox)
    digest = hashlib.sha256(layer).hexdigest()
    archive = folder / "images.tar"
    rows = []
    with tarfile.open(archive, "w") as tar:
        _add(tar, f"{digest}/layer.tar", layer)
        for name, command, user in IMAGES:
            config = _config(digest, command, user)
            config_name = f"{hashlib.sha256(config).hexdigest()}.json"
            _add(tar, config_name, config)
            rows.append({"Config": config_name, "RepoTags": [name], "Layers": [f"{digest}/layer.tar"]})
        _add(tar, "manifest.json", json.dumps(rows).encode())
    return archive


def _config(layer: str, command: list[str], user: str) -> bytes:
    image = {
        "architecture": ARCHITECTURE,
        "os": "linux",
        "created": "1970-01-01T00:00:00Z",
        "config": {"Env": ["PATH=/bin"], "Cmd": command, "WorkingDir": "/", "User": user},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer}"]},
        "history": [{"created_by": " ".join(command)}],
    }
    return json.dumps(image).encode()


def _layer(folder: Path, busybox: Path) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name in ("bin", "dev", "etc", "proc", "sys", "tmp"):
            _add(tar, name, kind=tarfile.DIRTYPE, mode=0o1777 if name == "tmp" else 0o755)
        _add(tar, "bin/busybox", busybox.read_bytes(), mode=0o755)
        for applet in subprocess.check_output([busybox, "--list"], text=True).split():
            if applet != "busybox":
                _add(tar, f"bin/{applet}", kind=tarfile.SYMTYPE, link="busybox", mode=0o777)
        for program in PROGRAMS:
            built = folder / program
            compiler = os.environ.get("CC", "cc")
            subprocess.run([compiler, "-O2", "-static", "-o", built, SOURCES / f"{program}.c"], check=True)
            _add(tar, f"bin/{program}", built.read_bytes(), mode=0o755)
        if shutil.which("go") is not None:
            built = folder / "tls_front"
            subprocess.run(["go", "build", "-o", built, TLS_FRONT], check=True, env={**os.environ, "CGO_ENABLED": "0"})
            _add(tar, "bin/tls_front", built.read_bytes(), mode=0o755)
        _add(tar, "etc/passwd", b"root:x:0:0:root:/:/bin/sh\n")
    return buffer.getvalue()


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
