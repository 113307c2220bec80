"""A folder of the state directory with one JSON file for each object."""

import hashlib
import os
import re
from functools import partial
from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec
import structlog

from probelet.agent.state.disk_thread import DiskThread
from probelet.base.files import below
from probelet.base.files.regular_file import read_regular

FILE_BYTES_MAX: Final = 4 * 1024 * 1024
"""The largest file that is read: a pod has at most 1.5 MiB (etcd ``--max-request-bytes``), and JSON may escape."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_SUFFIX: Final = ".json"
_NEW: Final = ".new"

T = TypeVar("T")

log = structlog.get_logger("probelet.agent")


class JsonFiles(Generic[T]):
    """Objects of one type by key. A file is replaced whole (0600): it has its old content or its new one.

    Writing happens on a thread of its own, because a disk may hang; everything else goes on meanwhile.
    """

    def __init__(self, state_dir: Path, folder: str, type: type[T]) -> None:
        self._root = state_dir
        self._folder = folder
        self._decoder = msgspec.json.Decoder(type)
        self._thread = DiskThread()

    def load(self) -> list[T]:
        """Every object. A file that cannot be read is removed with a line in the log: nothing may follow from it."""
        found = []
        for name in sorted(below.names_in(self._root, self._folder)):
            path = self._root / self._folder / name
            if not name.endswith(_SUFFIX):
                # What a process left that was killed while it wrote.
                below.remove_file(self._root, self._folder, name)
                continue
            try:
                found.append(self._decoder.decode(read_regular(path, FILE_BYTES_MAX)))
            except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                log.warning("file of the state directory removed: it cannot be read", path=str(path), error=str(error))
                below.remove_file(self._root, self._folder, name)
        return found

    async def put(self, key: str, value: T) -> None:
        """Writes one object; on return it is on disk. Raises OSError, also if the disk hangs."""
        name = file_name(key)
        await self._thread.make(name, partial(self._write, name, msgspec.json.encode(value)))

    async def remove(self, key: str) -> None:
        """Removes one object, if it is there. Raises OSError, also if the disk hangs."""
        name = file_name(key)
        await self._thread.make(name, partial(below.remove_file, self._root, self._folder, name))

    def _write(self, name: str, data: bytes) -> None:
        with os.fdopen(below.open_to_replace(self._root, self._folder, name + _NEW), "wb") as file:
            file.write(data)
            file.flush()
            # Otherwise the new name may reach the disk before the content.
            os.fsync(file.fileno())
        below.rename(self._root, self._folder, name + _NEW, to=name)


def file_name(key: str) -> str:
    """The name of a key's file: the key where it can be one, else a digest. Runtimes and API servers choose keys."""
    safe = key if _NAME.fullmatch(key) else f"sha256-{hashlib.sha256(key.encode(errors='replace')).hexdigest()}"
    return safe + _SUFFIX
