"""probelet's own part of the image: an environment of the image's Python with the locked packages and the wheel.

It is where `make install PREFIX=/usr` puts it, so the program in the image has the paths of an installation.
"""

import re
import shutil
import tempfile
from pathlib import Path

import pip

from tools.image.debian import USER
from tools.image.root import ImageError, Root
from tools.install.layout import Layout
from tools.install.requirements import runtime_lock

WHEELS = "build/wheel"
ENTER = "build/probelet-enter"
LAYOUT = Layout(Path("/usr"), Path("/etc"), None)

USER_IDS = f"{USER}:{USER}"
"""The image's user; the agent's pod overrides it, because the socket of a container runtime is root's."""


def write_packages(source: Path, root: Root, folder: Path) -> None:
    """The layer of probelet's dependencies: exactly the pins of requirements.lock, by hash. Raises ImageError."""
    environment = folder / LAYOUT.environment.relative_to("/")
    (environment / "bin").mkdir(parents=True)
    (environment / "bin/python").symlink_to(root.python)
    version = python_version(root)
    home = f"home = {root.python.parent}\ninclude-system-site-packages = false\nversion = {version}\n"
    (environment / "pyvenv.cfg").write_text(home)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as lock:
        lock.write(runtime_lock(source, version))
        lock.flush()
        flags = ("--only-binary", ":all:", "--no-deps", "--require-hashes", "-r", lock.name)
        _install(root, _site(root, folder), *flags)


def write_program(source: Path, root: Root, folder: Path) -> None:
    """The layer of probelet itself: the wheel, `probelet-enter` for `execMode: direct`, and the launcher."""
    for wheel in (source / WHEELS).glob("probelet-*.whl"):
        require_glibc(wheel.name, root)
    _install(root, _site(root, folder), "--no-index", "--find-links", source / WHEELS, "probelet")
    enter = folder / LAYOUT.environment.relative_to("/") / "bin/probelet-enter"
    enter.parent.mkdir()
    shutil.copy(source / ENTER, enter)
    launcher = folder / LAYOUT.launcher.relative_to("/")
    launcher.parent.mkdir(parents=True)
    launcher.write_text(f"{LAYOUT.shebang}\nfrom probelet.cli import main\n\nmain()\n")
    launcher.chmod(0o755)


def compile_modules(root: Root, folder: Path, place: str) -> None:
    """Writes byte code beside every module below ``folder``/``place``: the image's file system is read-only later.

    The byte code holds a hash of its source and no time, so two builds are equal and a start compares nothing.
    """
    flags = ("-q", "--invalidation-mode", "unchecked-hash", "-s", folder, "-p", "/")
    root.run_python("-m", "compileall", *flags, folder / place)


def python_version(root: Root) -> str:
    """The version of the image's Python, as 3.11.2."""
    return root.run_python("-I", "-c", "import platform; print(platform.python_version())").strip()


def require_glibc(wheel: str, root: Root) -> None:
    """Raises ImageError if the wheel, named after the glibc that it needs, needs a newer one than the base has."""
    needed = re.search(r"-manylinux_(\d+)_(\d+)_", wheel)
    said = root.run_python("-I", "-c", "import os; print(os.confstr('CS_GNU_LIBC_VERSION'))")
    has = tuple(map(int, said.split()[1].split(".")[:2]))
    if needed is not None and tuple(map(int, needed.groups())) > has:
        raise ImageError(
            f"{wheel} needs glibc {needed[1]}.{needed[2]}, and the base has {has[0]}.{has[1]}: "
            "build on an older system, or name a newer base (BASE=)"
        )


def _site(root: Root, folder: Path) -> Path:
    return folder / LAYOUT.environment.relative_to("/") / "lib" / root.python.name / "site-packages"


def _install(root: Root, site: Path, *arguments: str | Path) -> None:
    """Runs this environment's pip under the image's Python, which therefore gets the wheels made for it."""
    package = Path(pip.__file__).parent
    flags = ("--quiet", "--no-deps", "--no-compile", "--disable-pip-version-check", "--root-user-action", "ignore")
    try:
        root.run_python("-m", "pip", "install", *flags, "--target", site, *arguments, path=str(package.parent))
    except ImageError as error:
        raise ImageError(f"pip could not install the packages of the image: {error}") from None
    # Scripts of packages: nothing of probelet starts them, and their first lines name this machine's Python.
    shutil.rmtree(site / "bin", ignore_errors=True)
    for record in site.glob("*.dist-info/RECORD"):
        kept = [line for line in record.read_text().splitlines(keepends=True) if not line.startswith("../../bin/")]
        record.write_text("".join(kept))
