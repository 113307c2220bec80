"""Mounts the file system over a directory of a container and serves it; standard input says when it hangs."""

import ctypes
import os
import select
import struct
import sys
from contextlib import suppress
from enum import IntEnum
from typing import Final

CLONE_NEWNS: Final = 0x00020000
MNT_DETACH: Final = 2
IN_HEADER: Final = struct.Struct("<IIQQIIIHH")
OUT_HEADER: Final = struct.Struct("<IiQ")
REQUEST_BYTES_MAX: Final = 256 * 1024
NO_ENTRY, NO_SYSTEM_CALL = -2, -38


class Opcode(IntEnum):
    """linux/fuse.h"""

    LOOKUP = 1
    FORGET = 2
    GETATTR = 3
    STATFS = 17
    INIT = 26
    OPENDIR = 27
    READDIR = 28
    RELEASEDIR = 29
    ACCESS = 34
    INTERRUPT = 36
    BATCH_FORGET = 42


INITIALIZED: Final = struct.pack("<IIIIHHIIHHI7I", 7, 31, 65536, 0, 16, 12, 65536, 1, 16, 0, 0, *[0] * 7)
ROOT_ATTRIBUTES: Final = struct.pack(
    "<QIIQQQQQQIIIIIIIIII", 0, 0, 0, 1, *[0] * 5, *[0] * 3, 0o40755, 2, 0, 0, 0, 4096, 0
)
"""A directory; valid for no time, so that the server is asked each time."""
OPENED: Final = struct.pack("<QII", 0, 0, 0)
STATISTICS: Final = bytes(80)


CONTENTS: Final = {
    Opcode.INIT: INITIALIZED,
    Opcode.GETATTR: ROOT_ATTRIBUTES,
    Opcode.OPENDIR: OPENED,
    Opcode.STATFS: STATISTICS,
    Opcode.READDIR: b"",
    Opcode.RELEASEDIR: b"",
    Opcode.ACCESS: b"",
}
UNANSWERED: Final = frozenset({Opcode.FORGET, Opcode.INTERRUPT, Opcode.BATCH_FORGET})


def answer_to(opcode: int) -> tuple[int, bytes]:
    """The error and the content."""
    content = CONTENTS[Opcode(opcode)] if opcode in CONTENTS else None
    if content is not None:
        return 0, content
    return (NO_ENTRY if opcode == Opcode.LOOKUP else NO_SYSTEM_CALL), b""


def mount(process: int, path: str) -> int:
    """Mounts it in the mount namespace of a process; returns the descriptor of the server."""
    libc = ctypes.CDLL(None, use_errno=True)
    fuse = os.open("/dev/fuse", os.O_RDWR | os.O_NONBLOCK)
    namespace = os.open(f"/proc/{process}/ns/mnt", os.O_RDONLY)
    options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if libc.setns(namespace, CLONE_NEWNS) or libc.mount(b"hanging", path.encode(), b"fuse", 0, options):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
    return fuse


def serve(fuse: int) -> None:
    """Serves until standard input ends."""
    hangs = False
    waiting: list[tuple[int, int]] = []

    def answer(opcode: int, unique: int) -> None:
        if opcode not in UNANSWERED:
            error, content = answer_to(opcode)
            os.write(fuse, OUT_HEADER.pack(OUT_HEADER.size + len(content), error, unique) + content)

    def handle_request() -> None:
        _, opcode, unique, *_ = IN_HEADER.unpack_from(os.read(fuse, REQUEST_BYTES_MAX))
        if hangs:
            waiting.append((opcode, unique))
        else:
            answer(opcode, unique)

    while True:
        ready, _, _ = select.select([fuse, sys.stdin], [], [])
        if sys.stdin in ready:
            word = sys.stdin.readline().strip()
            if not word:
                return
            hangs = word == "hang"
            if not hangs:
                for opcode, unique in waiting:
                    answer(opcode, unique)
                waiting.clear()
            sys.stdout.write(f"{word}\n")
            sys.stdout.flush()
        if fuse in ready:
            # The kernel takes a request back whose process was killed. A read that waited for the next one would
            # never see the end of standard input.
            with suppress(BlockingIOError):
                handle_request()


def main() -> None:
    process, path = sys.argv[1:]
    fuse = mount(int(process), path)
    sys.stdout.write("mounted\n")
    sys.stdout.flush()
    serve(fuse)
    # A mount without a server would fail all that later tests do there. What waits for an answer gets an error when the
    # descriptor is closed.
    ctypes.CDLL(None).umount2(path.encode(), MNT_DETACH)


if __name__ == "__main__":
    main()
