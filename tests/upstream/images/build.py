"""Builds the images from upstream's own sources and Debian's static busybox. Nothing asks a registry.

agnhost is upstream's program, pause is upstream's pause.c, and busybox is Debian's. No test of the selection starts a
web server of the image nginx: one gives that name to a container whose command is a shell, so it has busybox's files.
Another one only wants an agnhost of another name, so both have the same files.
"""

import subprocess
import tempfile
from pathlib import Path

from tests.system.containerd.archive import Image, Layer, write
from tests.system.containerd.machine import BUSYBOX
from tests.upstream.programs import Programs

REGISTRY = "registry.k8s.io"
AGNHOST, EARLIER_AGNHOST, SHELL, NGINX, PAUSE = (
    f"{REGISTRY}/{name}"
    for name in (
        "e2e-test-images/agnhost:2.63.0",
        "e2e-test-images/agnhost:2.55",
        "e2e-test-images/busybox:1.37.0-1",
        "e2e-test-images/nginx:1.15-4",
        "pause:3.10.2",
    )
)
NMETER = Path(__file__).with_name("nmeter.c")
PASSWD = b"""root:x:0:0:root:/root:/bin/sh
user-defined-in-image:x:1000:1000::/:/bin/sh
nobody:x:65534:65534::/:/bin/false
"""
GROUP = b"""root:x:0:
user-defined-in-image:x:1000:
group-defined-in-image:x:50000:user-defined-in-image
"""
FOLDERS = ("bin", "dev", "etc", "home", "proc", "root", "sys", "usr", "usr/bin", "var", "uploads")
BASH = b"""#!/bin/sh
# The scripts of the tests are of plain shell.
exec /bin/busybox ash "$@"
"""
CURL = b"""#!/bin/sh
# All that the tests ask of curl is a GET.
exec wget -q -O - "$@"
"""


def build(programs: Programs, archive: Path) -> None:
    """Write an archive of the images. Raises CalledProcessError without a static libc."""
    sources = programs.kubernetes
    with tempfile.TemporaryDirectory() as folder:
        pause = _compiled(sources / "build" / "pause" / "linux" / "pause.c", Path(folder), "-DVERSION=3.10.2")
        nmeter = _compiled(NMETER, Path(folder))
    shell = _shell()
    shell.file("bin/nmeter", nmeter, 0o755)
    agnhost = _agnhost(programs.agnhost.read_bytes(), sources / "test" / "images" / "agnhost" / "porter")
    alone = Layer()
    alone.file("pause", pause, 0o755)
    files = shell.data()
    images = [
        *(Image(name, agnhost, ("/agnhost",), ("pause",)) for name in (AGNHOST, EARLIER_AGNHOST)),
        Image(SHELL, files, command=("sh",)),
        Image(NGINX, files, command=("sh",)),
        Image(PAUSE, alone.data(), ("/pause",), user="65535:65535"),
    ]
    write(archive, images)


def _compiled(source: Path, folder: Path, *flags: str) -> bytes:
    program = folder / source.stem
    subprocess.run(["cc", "-Os", "-static", *flags, "-o", program, source], check=True)
    return program.read_bytes()


def _shell() -> Layer:
    layer = Layer()
    for name in FOLDERS:
        layer.folder(name)
    layer.folder("tmp", 0o1777)
    layer.file("etc/passwd", PASSWD)
    layer.file("etc/group", GROUP)
    layer.file("bin/busybox", BUSYBOX.read_bytes(), 0o755)
    for applet in subprocess.check_output([BUSYBOX, "--list"], text=True).split():
        if applet != "busybox":
            layer.link(f"bin/{applet}", "busybox")
    return layer


def _agnhost(program: bytes, certificates: Path) -> bytes:
    layer = _shell()
    layer.file("agnhost", program, 0o755)
    layer.link("agnhost-2", "agnhost")
    layer.file("bin/bash", BASH, 0o755)
    layer.file("bin/curl", CURL, 0o755)
    for name in ("localhost.crt", "localhost.key"):
        layer.file(name, (certificates / name).read_bytes())
    return layer.data()
