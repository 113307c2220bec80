"""Reads one log with its rotated parts, oldest first, and what is appended to it later.

A block is all that is in memory, however long a line is. Every file is opened by descriptor, below the root.
"""

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from probelet.base.files import below
from probelet.base.logs.rotation import COMPRESSED, rotated_parts

BLOCK_BYTES: Final = 64 * 1024


class LogReader:
    """``folder`` is the directory of the log below ``root``, ``name`` the log's own. Close it with ``close``."""

    def __init__(self, root: Path, folder: tuple[str, ...], name: str) -> None:
        """Opens the log. Raises FileNotFoundError if neither the log nor a part of it is there, and OSError."""
        self._root = root
        self._folder = folder
        self._name = name
        self._file = -1
        with suppress(FileNotFoundError):
            self._file = self._open(name)
        # After the open: a part that is rotated in between is then the file that is open.
        self._parts = [part for part in self._listed() if not self._is_open(part)]
        if self._file < 0 and not self._parts:
            raise FileNotFoundError

    def close(self) -> None:
        """Closes the file. A second call does nothing."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def blocks(self, lines: int | None = None) -> Iterator[bytes]:
        """Everything that is in the log now; with ``lines`` only its last lines, each a record."""
        parts, skipped = self._begin(lines)
        for part in parts:
            last = b"\n"
            for last in _without_lines(self._part(part), skipped):
                yield last
            if not last.endswith(b"\n"):
                # The part is damaged: its last line must not swallow the first one of the next part.
                yield b"\n"
            skipped = 0
        if self._file >= 0 and not parts and lines is not None:
            os.lseek(self._file, last_lines(self._file, lines)[0], os.SEEK_SET)
        yield from self._rest()

    def more(self) -> Iterator[bytes]:
        """Returns the bytes appended since the last call, also to a rotation's new file."""
        yield from self._rest()
        while (following := self._following()) is not None:
            # The writer left the old file when it opened the new one.
            yield from self._rest()
            self.close()
            self._file = following
            yield from self._rest()

    def _begin(self, lines: int | None) -> tuple[list[str], int]:
        """The parts that have some of the last lines, and how many lines of the first of them come before those."""
        if lines is None:
            return self._parts, 0
        missing = lines
        if self._file >= 0:
            missing -= last_lines(self._file, lines)[1]
        for at in range(len(self._parts) - 1, -1, -1):
            if missing <= 0:
                return self._parts[at + 1 :], 0
            found = sum(block.count(b"\n") for block in self._part(self._parts[at]))
            if found >= missing:
                return self._parts[at:], found - missing
            missing -= found
        return self._parts, 0

    def _rest(self) -> Iterator[bytes]:
        while self._file >= 0 and (block := os.read(self._file, BLOCK_BYTES)):
            yield block

    def _following(self) -> int | None:
        """The descriptor of the file that continues the one that is open; None if that is still the log."""
        if self._is_open(self._name):
            return None
        candidates = [*self._listed(), self._name]
        after = next((at + 1 for at, name in enumerate(candidates) if self._is_open(name)), len(candidates) - 1)
        for name in candidates[after:]:
            if not name.endswith(COMPRESSED):
                with suppress(FileNotFoundError):
                    return self._open(name)
        return None

    def _listed(self) -> list[str]:
        return rotated_parts(self._name, below.names_in(self._root, *self._folder))[0]

    def _open(self, name: str) -> int:
        return below.open_to_read(self._root, *self._folder, name)

    def _is_open(self, name: str) -> bool:
        if self._file < 0:
            return False
        with suppress(OSError), below.directory(self._root, *self._folder) as folder:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            return os.path.samestat(found, os.fstat(self._file))
        return False

    def _part(self, name: str) -> Iterator[bytes]:
        """The blocks of a part. A rotation may have compressed or removed it since it was listed."""
        for candidate in (name, name + COMPRESSED):
            try:
                plain = os.fdopen(self._open(candidate), "rb")
            except FileNotFoundError:
                continue
            with plain:
                file = gzip.GzipFile(fileobj=plain) if candidate.endswith(COMPRESSED) else plain
                # The rest of a damaged part is lost.
                with suppress(EOFError, zlib.error, gzip.BadGzipFile):
                    while block := file.read(BLOCK_BYTES):
                        yield block
            return


def last_lines(file: int, lines: int) -> tuple[int, int]:
    """Where the last ``lines`` lines of a file begin, and how many there are from there on
    (cri-client pkg/logs/tail.go:findTailLineStartIndex, 1.36)."""
    right, found = os.fstat(file).st_size, 0
    while right > 0:
        left = max(0, right - BLOCK_BYTES)
        block = os.pread(file, right - left, left)
        found += block.count(b"\n")
        if found > lines:
            at = 0
            for _ in range(found - lines):
                at = block.index(b"\n", at) + 1
            return left + at, lines
        right = left
    return 0, found


def _without_lines(blocks: Iterator[bytes], lines: int) -> Iterator[bytes]:
    """``blocks`` without the first ``lines`` lines."""
    for block in blocks:
        at = 0
        while lines and (newline := block.find(b"\n", at)) >= 0:
            at = newline + 1
            lines -= 1
        if not lines:
            yield block[at:]
