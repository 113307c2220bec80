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
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from tests.support.paths import BUILD, ROOT, built

SOURCES = ROOT / "tests" / "support" / "target"
PROGRAMS = ("target", "health")
FOLDER = BUILD / "images"
TLS_FRONT = ROOT / "tests" / "support" / "tls_front" / "main.go"

APP = "docker.io/probelet/app:1"
PAUSE = "docker.io/probelet/pause:1"
NUMBERED = "docker.io/probelet/numbered:1"
"""Its user is 1234."""
NAMED = "docker.io/probelet/named:1"
"""Its user is ``app``, which only the image could resolve."""

Images = Sequence[tuple[str, list[str], str]]
"""Name, command and user of each image."""

IMAGES: Images = (
    (APP, ["/bin/sh"], ""),
    (PAUSE, ["/bin/sleep", "2147483647"], ""),
    (NUMBERED, ["/bin/sh"], "1234"),
    (NAMED, ["/bin/sh"], "app"),
)

ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def build_images(folder: Path, busybox: Path) -> Path:
    """Write an archive for ``ctr images import``. Raises CalledProcessError without a static libc."""
    return write_images(folder / "images.tar", layer_of(busybox, _built_programs()), IMAGES)


def write_images(archive: Path, layer: bytes, images: Images) -> Path:
    """Write an archive of images that share one layer."""
    digest = hashlib.sha256(layer).hexdigest()
    rows = []
    with tarfile.open(archive, "w") as tar:
        _add(tar, f"{digest}/layer.tar", layer)
        for name, command, user in images:
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


def layer_of(busybox: Path, programs: Mapping[str, Path]) -> bytes:
    """A layer with busybox, its applets and other static programs in /bin."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name in ("bin", "dev", "etc", "proc", "sys", "tmp"):
            _add(tar, name, kind=tarfile.DIRTYPE, mode=0o1777 if name == "tmp" else 0o755)
        _add(tar, "bin/busybox", busybox.read_bytes(), mode=0o755)
        for applet in subprocess.check_output([busybox, "--list"], text=True).split():
            if applet != "busybox":
                _add(tar, f"bin/{applet}", kind=tarfile.SYMTYPE, link="busybox", mode=0o777)
        for name, program in programs.items():
            _add(tar, f"bin/{name}", program.read_bytes(), mode=0o755)
        _add(tar, "etc/passwd", b"root:x:0:0:root:/:/bin/sh\n")
    return buffer.getvalue()


def _built_programs() -> dict[str, Path]:
    def compile(source: Path, program: Path) -> None:
        command = [os.environ.get("CC", "cc"), "-O2", "-static", "-o", str(program), str(source)]
        subprocess.run(command, check=True)

    def compile_go(program: Path) -> None:
        command = ["go", "build", "-o", str(program), str(TLS_FRONT)]
        subprocess.run(command, check=True, env={**os.environ, "CGO_ENABLED": "0"})

    programs = {}
    for name in PROGRAMS:
        source = SOURCES / f"{name}.c"
        programs[name] = built(FOLDER / name, SOURCES.iterdir(), partial(compile, source))
    if shutil.which("go") is not None:
        programs["tls_front"] = built(FOLDER / "tls_front", [TLS_FRONT], compile_go)
    return programs


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
