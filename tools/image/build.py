"""The three layers of the image, each made again only if something that goes into it has changed."""

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tools.image import debian, environment
from tools.image.archive import ARCHITECTURE
from tools.image.layer import Layer, unpack
from tools.image.root import ImageError, Root
from tools.install.requirements import runtime_lock

CODE = Path(__file__).parent


class Build:
    """The making of an image from the checkout ``source``, in the folder ``work``, which later runs use again."""

    def __init__(self, source: Path, work: Path, base: str, epoch: int) -> None:
        """``base`` is a folder or a tar file with a root file system; Debian's packages if empty. ``epoch`` is the time
        of every file, in seconds since 1970."""
        self._source = source
        self._work = work.absolute()
        self._base = Path(base) if base else None
        self._epoch = epoch

    def layers(self) -> dict[str, Layer]:
        """The layers by name, the lowest first. Raises ImageError."""
        self._work.mkdir(parents=True, exist_ok=True)
        root = self._base_root()
        made = {"base": self._layer("base", [root.folder.name], lambda _: None, root.folder)}
        version = environment.python_version(root)
        lock = runtime_lock(self._source, version)
        packages = [root.folder.name, lock]
        made["packages"] = self._layer("packages", packages, lambda at: self._packages(root, at))
        (wheel,) = (self._source / environment.WHEELS).glob("probelet-*.whl")
        enter = self._source / environment.ENTER
        program = [root.folder.name, *(_digest(file.read_bytes()) for file in (wheel, enter))]
        made["probelet"] = self._layer("probelet", program, lambda at: self._program(root, at))
        return made

    def _base_root(self) -> Root:
        """The unpacked base, which stays: its interpreter serves the other layers, and its folder's name is its key."""
        given = _stamp(self._base) if self._base else debian.SUITE
        folder = self._work / f"root-{_key(ARCHITECTURE, given, *_code())}"
        if folder.exists():
            return Root(folder)
        for old in self._work.glob("root-*"):
            shutil.rmtree(old)
        new = self._work / "root.new"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        _say(f"base: {self._base or f'{len(debian.PACKAGES)} packages of Debian {debian.SUITE}'}")
        if self._base:
            unpack(self._base, new)
        else:
            debian.write_base(new, self._work / "apt")
        root = Root(new)
        environment.compile_modules(root, new, f"usr/lib/{root.python.name}")
        new.rename(folder)
        return Root(folder)

    def _packages(self, root: Root, at: Path) -> None:
        environment.write_packages(self._source, root, at)
        environment.compile_modules(root, at, "usr/lib/probelet")

    def _program(self, root: Root, at: Path) -> None:
        environment.write_program(self._source, root, at)
        environment.compile_modules(root, at, "usr/lib/probelet")

    def _layer(self, name: str, inputs: list[str], fill: Callable[[Path], None], folder: Path | None = None) -> Layer:
        """The layer ``name`` of an earlier run with the same inputs, or a new one that ``fill`` makes."""
        file = self._work / f"{name}-{_key(str(self._epoch), *inputs, *_code())}.tar.gz"
        if found := Layer.read(file):
            return found
        _say(f"layer: {name}")
        for old in self._work.glob(f"{name}-*"):
            old.unlink()
        if folder is not None:
            return Layer.write(folder, file, self._epoch)
        with tempfile.TemporaryDirectory(prefix=f"{name}.", dir=self._work) as place:
            fill(Path(place))
            return Layer.write(Path(place), file, self._epoch)


def write_root(layers: dict[str, Layer], folder: Path) -> None:
    """Unpacks the whole image into ``folder``, for a Containerfile. Raises ImageError if it exists."""
    if folder.exists():
        raise ImageError(f"{folder}: exists; the root file system of the image goes into a folder of its own")
    folder.mkdir(parents=True)
    for layer in layers.values():
        unpack(layer.file, folder)


def _code() -> list[str]:
    """These sources: a change of how layers are made makes them again."""
    return [path.read_text() for path in sorted(CODE.glob("*.py"))]


def _stamp(base: Path) -> str:
    """What changes when a given base changes, without reading it."""
    if not base.exists():
        raise ImageError(f"BASE={base}: does not exist; it is a folder or a tar file with a root file system")
    seen = base.stat()
    return f"{base.resolve()} {seen.st_mtime_ns} {seen.st_size}"


def _key(*inputs: str) -> str:
    return _digest("\0".join(inputs).encode())[:16]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _say(line: str) -> None:
    print(f"image: {line}", file=sys.stderr)
