"""One connection's script, played step by step."""

import threading
from collections.abc import Mapping

from probelet.replay.handlers.case import Step, filled_bytes
from probelet.replay.handlers.end import End
from probelet.replay.handlers.frames import HEADERS, PREFACE, split

SEND_FOREVER_BYTES = 65_536
SETTLE_S = 0.02


class Script:
    """Plays steps on a connection until they end, the client is gone, or the probe is over."""

    def __init__(self, end: End, ports: Mapping[str, int], over: threading.Event) -> None:
        self._end = end
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
            while self._end.is_open and self._end.receive():
                pass
        except (OSError, EOFError):
            return

    def _more(self) -> None:
        if not self._end.receive():
            raise EOFError

    def _read(self, step: Step) -> None:
        while step.count and len(self._end.received) - self._read_to < step.count:
            self._more()
        while step.until and self._end.received.find(step.until, self._read_to) < 0:
            self._more()
        if step.until:
            self._read_to = self._end.received.find(step.until, self._read_to) + len(step.until)
        else:
            self._read_to += step.count

    def _read_h2(self, step: Step) -> None:
        while True:
            frames, _ = split(bytes(self._end.received)) if self._end.received.startswith(PREFACE) else ([], 0)
            for frame in frames[self._frames_read :]:
                self._frames_read += 1
                ended = frame.ends_stream or not step.end_stream
                # A request that ends with its HEADERS has no DATA to wait for.
                if ended and (frame.name == step.frame or (frame.kind == HEADERS and frame.ends_stream)):
                    return
            self._more()

    def _send(self, step: Step) -> None:
        data = filled_bytes(step.data, self._ports) * step.repeat
        if not step.chunk:
            self._end.send(data)
            return
        for start in range(0, len(data), step.chunk):
            self._end.send(data[start : start + step.chunk])
            if self._over.wait(step.delay_s):
                raise EOFError

    def _send_forever(self, step: Step) -> None:
        data = filled_bytes(step.data, self._ports)
        if not step.delay_s:
            data *= max(1, SEND_FOREVER_BYTES // len(data))
        while not self._over.wait(step.delay_s):
            self._end.send(data)

    def _sleep(self, step: Step) -> None:
        if self._over.wait(step.delay_s):
            raise EOFError

    def _half_close(self, step: Step) -> None:
        self._end.half_close()

    def _close(self, step: Step) -> None:
        self._take_frames()
        self._end.close()

    def _tcp_close(self, step: Step) -> None:
        self._take_frames()
        self._end.tcp_close()

    def _take_frames(self) -> None:
        """A client acknowledges SETTINGS while its request is read: closing on top of that would be a reset."""
        if self._frames_read:
            self._over.wait(SETTLE_S)
            self._end.receive_left()

    def _reset(self, step: Step) -> None:
        self._end.reset()
