"""The images of the containerd tests; the tests build the images and fetch nothing.

One layer: Debian's static busybox with its applets, our own static C programs, and where there is Go a program that
speaks TLS. Every name shares it; the sandbox's image only sleeps, and two images name a user.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from tests.support.paths import BUILD, ROOT, built
from tests.system.containerd.archive import Image, Layer, write

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


def build_images(folder: Path, busybox: Path) -> Path:
    """Write an archive for ``ctr images import``. Raises CalledProcessError without a static libc."""
    return write_images(folder / "images.tar", layer_of(busybox, _built_programs()), IMAGES)


def write_images(archive: Path, layer: bytes, images: Images) -> Path:
    """Write an archive of images that share one layer."""
    return write(archive, (Image(name, layer, (), tuple(command), user, "PATH=/bin") for name, command, user in images))


def layer_of(busybox: Path, programs: Mapping[str, Path]) -> bytes:
    """A layer with busybox, its applets and other static programs in /bin."""
    layer = Layer()
    for name in ("bin", "dev", "etc", "proc", "sys", "tmp"):
        layer.folder(name, 0o1777 if name == "tmp" else 0o755)
    layer.file("bin/busybox", busybox.read_bytes(), 0o755)
    for applet in subprocess.check_output([busybox, "--list"], text=True).split():
        if applet != "busybox":
            layer.link(f"bin/{applet}", "busybox")
    for name, program in programs.items():
        layer.file(f"bin/{name}", program.read_bytes(), 0o755)
    layer.file("etc/passwd", b"root:x:0:0:root:/:/bin/sh\n")
    return layer.data()


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
