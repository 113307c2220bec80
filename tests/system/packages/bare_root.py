"""A root file system of Debian's packages with Python and nothing else, and programs in it, without a network."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from tests.support.required import missing
from tools.image.debian import KEYRING, MIRRORS, SUITE, download
from tools.image.root import ImageError

PACKAGES: Final = ("libstdc++6", "python3", "python3-venv")
"""`python3-venv` brings pip, and grpcio needs the library. The variant adds what Debian calls essential."""

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
    """The packages in a new ``folder``. The test is skipped without root or a mirror of Debian."""
    if os.geteuid() != 0:
        missing("bare-root", "only root changes its root directory")
    absent = [program for program in ("apt-get", "dpkg-deb", "perl", "unshare", "ip") if shutil.which(program) is None]
    if absent or not KEYRING.exists():
        missing("bare-root", f"no {', '.join(absent) or KEYRING}; on Debian: apt-get install perl iproute2")
    # Its mounts and processes end with it, also if the time runs out.
    command = ["unshare", "--mount", "--pid", "--mount-proc", "--fork", "--kill-child", _mmdebstrap(folder.parent)]
    flags = ["--quiet", "--mode=root", "--variant=essential", "--dpkgopt=force-unsafe-io"]
    source = f"deb [signed-by={KEYRING}] {MIRRORS[0][0]} {SUITE} main"
    words = [*command, *flags, f"--include={','.join(PACKAGES)}", SUITE, str(folder), source]
    made = subprocess.run(words, capture_output=True, text=True, timeout=MAKE_SECONDS)
    if made.returncode:
        missing("bare-root", f"mmdebstrap: {made.stderr.strip().splitlines()[-1]}")
    # As Debian's installer writes it. Of the mirror's machine comes a name server, which nothing here can reach.
    (folder / "etc/hosts").write_text("127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n")
    (folder / "etc/resolv.conf").unlink(missing_ok=True)
    root = BareRoot(folder)
    root.files.mkdir()
    return root


def _mmdebstrap(folder: Path) -> str:
    """The machine's, or that of its package, which is one program in Perl, unpacked into ``folder``."""
    if installed := shutil.which("mmdebstrap"):
        return installed
    try:
        (archive,) = download(folder / "cache", ["mmdebstrap"])
    except ImageError as error:
        missing("bare-root", str(error))
    subprocess.run(["dpkg-deb", "--extract", archive, folder], check=True)
    return str(folder / "usr/bin/mmdebstrap")
