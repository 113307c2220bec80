"""Plays one connection's script step by step."""

import threading
from collections.abc import Mapping

from probelet_conformance.handlers.case.case import Step, filled_bytes
from probelet_conformance.handlers.server.connection import Connection
from probelet_conformance.handlers.server.frames import HEADERS, PREFACE, split

SEND_FOREVER_BYTES = 65_536
SETTLE_S = 0.02


class Script:
    """Plays steps on a connection until the last step, the client's close or the probe's end."""

    def __init__(self, connection: Connection, ports: Mapping[str, int], over: threading.Event) -> None:
        self._connection = connection
        self._ports = ports
        self._over = over
        self._read_to = 0
        self._frames_read = 0

    def play(self, steps: tuple[Step, ...]) -> None:
        try:
            for step in steps:
                if self._over.is_set():
                    return
                getattr(self, f"_{step.op}")(step)
            while self._connection.is_open and self._connection.receive():
                pass
        except (OSError, EOFError):
            return

    def _more(self) -> None:
        if not self._connection.receive():
            raise EOFError

    def _read(self, step: Step) -> None:
        while step.count and len(self._connection.received) - self._read_to < step.count:
            self._more()
        while step.until and self._connection.received.find(step.until, self._read_to) < 0:
            self._more()
        if step.until:
            self._read_to = self._connection.received.find(step.until, self._read_to) + len(step.until)
        else:
            self._read_to += step.count

    def _read_h2(self, step: Step) -> None:
        while True:
            received = bytes(self._connection.received)
            frames, _ = split(received) if received.startswith(PREFACE) else ([], 0)
            for frame in frames[self._frames_read :]:
                self._frames_read += 1
                ended = frame.ends_stream or not step.end_stream
                # A request that ends with its HEADERS sends no DATA.
                if ended and (frame.name == step.frame or (frame.kind == HEADERS and frame.ends_stream)):
                    return
            self._more()

    def _send(self, step: Step) -> None:
        data = filled_bytes(step.data, self._ports) * step.repeat
        if not step.chunk:
            self._connection.send(data)
            return
        for start in range(0, len(data), step.chunk):
            self._connection.send(data[start : start + step.chunk])
            if self._over.wait(step.delay_s):
                raise EOFError

    def _send_forever(self, step: Step) -> None:
        data = filled_bytes(step.data, self._ports)
        if not step.delay_s:
            data *= max(1, SEND_FOREVER_BYTES // len(data))
        while not self._over.wait(step.delay_s):
            self._connection.send(data)

    def _sleep(self, step: Step) -> None:
        if self._over.wait(step.delay_s):
            raise EOFError

    def _half_close(self, step: Step) -> None:
        self._connection.half_close()

    def _close(self, step: Step) -> None:
        self._take_frames()
        self._connection.close()

    def _tcp_close(self, step: Step) -> None:
        self._take_frames()
        self._connection.tcp_close()

    def _take_frames(self) -> None:
        """Reads pending frames: the client's SETTINGS ack follows its request, and closing with it unread sends RST."""
        if self._frames_read:
            self._over.wait(SETTLE_S)
            self._connection.receive_left()

    def _reset(self, step: Step) -> None:
        self._connection.reset()
