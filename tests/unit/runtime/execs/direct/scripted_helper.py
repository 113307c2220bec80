"""A helper in Python that speaks the protocol on the real sockets and runs nothing."""

import os
import sys
from pathlib import Path

PROGRAM = r"""#!{python} -I
import os, select, socket, struct

sockets = [socket.socket(fileno=number) for number in (3, 4)]
words = os.open({words!r}, os.O_RDWR)
sockets[0].send(struct.pack("<BB17Q", 1, 2, 2**64 - 1, *[2**64 - 1] * 16))
held = []
while True:
    for ready in select.select([*sockets, words], [], [])[0]:
        if ready == words:
            word = os.read(words, 1)
            if word == b"x":
                os._exit(7)
            for line, number in held:
                line.send(struct.pack("<BQ", 8, number))
            held = []
            continue
        request = ready.recv(1 << 18)
        if not request:
            os._exit(0)
        kind, number = struct.unpack_from("<BQ", request)
        if kind == 2:
            ready.send(struct.pack("<BQ", 3, number))
        elif request.endswith(b"hang"):
            held.append((ready, number))
            ready.send(struct.pack("<BQ", 5, number))
        elif request.endswith(b"refuse"):
            ready.send(struct.pack("<BQBBi", 7, number, 6, 0, 0))
        elif not request.endswith(b"silent"):
            ready.send(struct.pack("<BQiI", 4, number, 0, 0))
"""
"""A command that ends in ``hang`` is killed at its timeout, and has ended once a word comes through the FIFO; the word
``x`` ends the helper. The runtime has to run ``refuse``, ``silent`` gets no answer, every other command succeeds."""


class ScriptedHelper:
    """The program, and the FIFO through which a test tells it what to do."""

    def __init__(self, folder: Path) -> None:
        words, self.program = folder / "words", folder / "probelet-enter"
        os.mkfifo(words)
        self.program.write_text(PROGRAM.format(python=sys.executable, words=str(words)))
        self.program.chmod(0o755)
        self._words = os.open(words, os.O_RDWR)

    def end_what_hangs(self) -> None:
        os.write(self._words, b"e")

    def end(self) -> None:
        os.write(self._words, b"x")

    def close(self) -> None:
        os.close(self._words)
