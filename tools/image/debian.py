"""The base of the image: a root file system of a dozen Debian packages, with Python, without shell and package manager.

apt resolves and checks the packages in folders of its own, so the machine's own packages play no part and no root is
needed; dpkg-deb unpacks them, and no maintainer script runs.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tools.image.root import ImageError

SUITE = "bookworm"
PACKAGES = (
    *("base-files", "ca-certificates", "media-types", "netbase"),
    *("libc6", "libgcc-s1", "libstdc++6"),
    *("libbz2-1.0", "libcrypt1", "libexpat1", "libffi8", "liblzma5", "libssl3", "libuuid1", "zlib1g"),
    *("libpython3.11-minimal", "libpython3.11-stdlib", "python3.11-minimal"),
)
"""What probelet and its Python packages load. `libpython3.11-stdlib` depends on more, for modules in ``UNUSED``."""

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
MIRRORS = (
    ("http://deb.debian.org/debian", SUITE),
    ("http://deb.debian.org/debian", f"{SUITE}-updates"),
    ("http://deb.debian.org/debian-security", f"{SUITE}-security"),
)

MERGED = ("bin", "lib", "lib64", "sbin")
"""Links into /usr, as on every Debian of today."""

STDLIB = "usr/lib/python3.*"
UNUSED = (
    # Shells would run them, or nobody reads them in a container. Licences stay in usr/share/doc.
    *("usr/sbin/*", "usr/share/doc/*/changelog*", "usr/share/doc/*/NEWS*", "usr/share/doc/*/README*"),
    *(
        f"usr/share/{name}"
        for name in ("base-files", "binfmts", "bug", "ca-certificates", "dict", "gcc", "gdb", "info")
    ),
    *(f"usr/share/{name}" for name in ("lintian", "man", "menu", "python3", "pixmaps", "misc")),
    *("usr/games", "usr/include", "usr/src", "usr/lib/*-linux-gnu/audit", "usr/lib/*-linux-gnu/gconv"),
    *("etc/default", "etc/dpkg", "etc/profile.d", "etc/skel", "etc/update-motd.d", "etc/issue*", "etc/motd"),
    # Modules whose libraries are left out, and those for Python's own tests.
    *(f"{STDLIB}/{name}" for name in ("curses", "dbm", "pydoc_data", "sqlite3", "test", "turtle.py")),
    *(f"{STDLIB}/lib-dynload/{name}.*" for name in ("_curses*", "_dbm", "_sqlite3", "nis", "ossaudiodev", "readline")),
    *(f"{STDLIB}/lib-dynload/{name}*" for name in ("_ctypes_test", "_test", "_xxtest", "xxlimited")),
)

USER = 65532
"""The user of the roles that need no root; the number is that of the distroless images."""

FILES = {
    "etc/passwd": "root:x:0:0:root:/:/sbin/nologin\n"
    f"nonroot:x:{USER}:{USER}:nonroot:/:/sbin/nologin\n"
    "nobody:x:65534:65534:nobody:/:/sbin/nologin\n",
    "etc/group": f"root:x:0:\nnonroot:x:{USER}:\nnogroup:x:65534:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
}


def write_base(folder: Path, cache: Path) -> None:
    """Fills the empty ``folder``; downloads stay in ``cache``. Raises ImageError."""
    lacking = [name for name in ("apt-get", "dpkg-deb") if shutil.which(name) is None]
    lacking += [str(KEYRING)] if not KEYRING.exists() else []
    if lacking:
        raise ImageError(
            f"no {', '.join(lacking)}; give the base as BASE=FOLDER or BASE=FILE.tar (docs/dev/packaging.md)"
        )
    archives = download(cache, PACKAGES)
    for name in MERGED:
        (folder / "usr" / name).mkdir(parents=True)
        (folder / name).symlink_to(f"usr/{name}")
    for archive in archives:
        _unpack(archive, folder)
    _bundle_certificates(folder)
    for pattern in UNUSED:
        for path in folder.glob(pattern):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    for program in (folder / "usr/bin").iterdir():
        if not program.name.startswith("python3."):
            program.unlink()
    for name, text in FILES.items():
        (folder / name).write_text(text)


def download(cache: Path, packages: Sequence[str]) -> list[Path]:
    """The archives of ``packages`` in their newest version of the suite; apt has checked each by signature and hash.
    Raises ImageError."""
    for name in ("state/lists/partial", "cache/archives/partial", "etc/preferences.d"):
        (cache / name).mkdir(parents=True, exist_ok=True)
    (cache / "state/status").touch()
    lines = [f"deb [signed-by={KEYRING}] {mirror} {suite} main\n" for mirror, suite in MIRRORS]
    (cache / "etc/sources.list").write_text("".join(lines))
    archives = cache / "archives"
    shutil.rmtree(archives, ignore_errors=True)
    archives.mkdir()
    _apt(cache, cache, "update")
    _apt(cache, archives, "download", *packages)
    return sorted(archives.glob("*.deb"))


def _apt(cache: Path, place: Path, *arguments: str) -> None:
    settings = {
        "Dir::State": cache / "state",
        "Dir::State::status": cache / "state/status",
        "Dir::Cache": cache / "cache",
        "Dir::Etc": cache / "etc",
        "Dir::Etc::sourcelist": cache / "etc/sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::Etc::main": "/dev/null",
        "Dir::Etc::parts": "/dev/null",
        "APT::Sandbox::User": "",
        "Acquire::Languages": "none",
    }
    options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    ended = subprocess.run(["apt-get", "-qq", *options, *arguments], cwd=place, capture_output=True, text=True)
    if ended.returncode:
        raise ImageError(f"apt-get {arguments[0]} failed: {ended.stderr.strip()}")


def _unpack(archive: Path, folder: Path) -> None:
    """Unpacks a package and notes it where scanners of images look for Debian's packages."""
    data = subprocess.run(["dpkg-deb", "--fsys-tarfile", archive], capture_output=True, check=True).stdout
    # A package's folder /lib goes into usr/lib, to which the link leads.
    flags = ["--keep-directory-symlink", "--no-same-owner", "--no-same-permissions"]
    subprocess.run(["tar", "-x", "-C", str(folder), *flags], input=data, check=True)
    control = subprocess.run(["dpkg-deb", "--field", archive], capture_output=True, check=True).stdout
    notes = folder / "var/lib/dpkg/status.d" / archive.name.partition("_")[0]
    notes.parent.mkdir(parents=True, exist_ok=True)
    notes.write_bytes(control)


def _bundle_certificates(folder: Path) -> None:
    """Writes the file that the package's maintainer script would write: every certificate of Mozilla's list."""
    certificates = sorted(folder.glob("usr/share/ca-certificates/mozilla/*.crt"))
    bundle = folder / "etc/ssl/certs/ca-certificates.crt"
    bundle.parent.mkdir(parents=True, exist_ok=True)
    bundle.write_bytes(b"".join(path.read_bytes() for path in certificates))
