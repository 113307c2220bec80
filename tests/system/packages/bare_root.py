"""A root file system of Debian's packages with Python and nothing else, and programs in it, without a network."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from tests.support.required import missing
from tools.image.debian import KEYRING, MIRRORS, SUITE

PACKAGES: Final = ("ca-certificates", "python3", "python3-venv")
"""`python3-venv` brings pip. minbase adds what Debian calls essential."""

ENTER: Final = """
set -eu
ip link set lo up
mount --types proc proc "$1/proc"
mount --rbind /dev "$1/dev"
mount --types tmpfs tmpfs "$1/tmp"
root=$1
shift
exec chroot "$root" /usr/bin/env --ignore-environment PATH=/opt/probelet/bin:/usr/bin:/bin HOME=/root LANG=C.UTF-8 "$@"
"""
"""Everything is mounted in a namespace of this shell's, so nothing stays mounted after it, however it ends."""

MAKE_SECONDS: Final = 600
SECONDS: Final = 300


class BareRoot:
    """``folder`` is the root; ``/files`` in it is the place of what is copied there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = folder / "files"

    def run(self, *command: str, codes: tuple[int, ...] = (0,)) -> str:
        """The output of a program as root, in namespaces of its own; its network leads nowhere."""
        namespaces = ["unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child"]
        words = [*namespaces, "sh", "-c", ENTER, "sh", str(self.folder), *command]
        ended = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS)
        assert ended.returncode in codes, f"{command}: exit {ended.returncode}\n{ended.stdout}{ended.stderr}"
        return ended.stdout + ended.stderr


def make_root(folder: Path) -> BareRoot:
    """The packages in a new ``folder``. The test is skipped without root, mmdebstrap or a mirror of Debian."""
    if os.geteuid() != 0:
        missing("bare-root", "only root changes its root directory")
    absent = [program for program in ("mmdebstrap", "unshare", "ip") if shutil.which(program) is None]
    if absent or not KEYRING.exists():
        missing("bare-root", f"no {', '.join(absent) or KEYRING}; on Debian: apt-get install mmdebstrap iproute2")
    mirror = MIRRORS[0][0]
    # Its mounts and processes end with it, also if the time runs out.
    command = ["unshare", "--mount", "--pid", "--mount-proc", "--fork", "--kill-child", "mmdebstrap", "--quiet"]
    flags = ["--mode=root", "--variant=minbase", "--dpkgopt=force-unsafe-io", f"--include={','.join(PACKAGES)}"]
    source = f"deb [signed-by={KEYRING}] {mirror} {SUITE} main"
    words = [*command, *flags, SUITE, str(folder), source]
    made = subprocess.run(words, capture_output=True, text=True, timeout=MAKE_SECONDS)
    if made.returncode:
        missing("bare-root", f"mmdebstrap: {made.stderr.strip().splitlines()[-1]}")
    root = BareRoot(folder)
    root.files.mkdir()
    return root
