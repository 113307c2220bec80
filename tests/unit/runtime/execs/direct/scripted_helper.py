"""A helper in Python that speaks the protocol on the real socket and runs nothing."""

import os
import sys
from pathlib import Path

PROGRAM = r"""#!{python} -I
import os, select, socket, struct

engine = socket.socket(fileno=3)
words = os.open({words!r}, os.O_RDWR)
engine.send(struct.pack("<BB17Q", 1, {version}, 2**64 - 1, *[2**64 - 1] * 16))
held = []
while True:
    for ready in select.select([engine, words], [], [])[0]:
        if ready == words:
            word = os.read(words, 1)
            if word == b"x":
                os._exit(7)
            for number in held:
                engine.send(struct.pack("<BQ", 8, number))
            held = []
            continue
        request = engine.recv(1 << 18)
        if not request:
            os._exit(0)
        kind, number = struct.unpack_from("<BQ", request)
        if kind == 2:
            engine.send(struct.pack("<BQ", 3, number))
        elif request.endswith(b"hang"):
            held.append(number)
            engine.send(struct.pack("<BQ", 5, number))
        elif request.endswith(b"refuse"):
            engine.send(struct.pack("<BQBBi", 7, number, 6, 0, 0))
        elif not request.endswith(b"silent"):
            engine.send(struct.pack("<BQiI", 4, number, 0, 0))
"""
"""A command that ends in ``hang`` is killed at its timeout, and has ended once a word comes through the FIFO; the word
``x`` ends the helper. The runtime has to run ``refuse``, ``silent`` gets no answer, every other command succeeds."""


class ScriptedHelper:
    """The program, and the FIFO through which a test tells it what to do."""

    def __init__(self, folder: Path, version: int = 4) -> None:
        words, self.program = folder / "words", folder / "probelet-enter"
        os.mkfifo(words)
        self.program.write_text(PROGRAM.format(python=sys.executable, words=str(words), version=version))
        self.program.chmod(0o755)
        self._words = os.open(words, os.O_RDWR)

    def end_what_hangs(self) -> None:
        os.write(self._words, b"e")

    def end(self) -> None:
        os.write(self._words, b"x")

    def close(self) -> None:
        os.close(self._words)
