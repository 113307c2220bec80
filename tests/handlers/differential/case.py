"""A case of the differential test: a probe, and the bytes that its target sends."""

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

USER_AGENT = "kube-probe/1.36"


class End(enum.Enum):
    """What the server does after it has sent everything."""

    CLOSE = "close"
    RESET = "reset"
    HOLD = "hold"


@dataclass(frozen=True)
class Answer:
    """What the server sends on one connection. It pauses between ``parts``, so that they arrive one by one."""

    parts: tuple[bytes, ...]
    end: End = End.CLOSE

    @property
    def data(self) -> bytes:
        return b"".join(self.parts)


@dataclass(frozen=True)
class Case:
    """The nth connection gets the nth answer, and further ones get the last. `{PORT}` and `{PORT2}` stand for the
    server's two ports, `{CLOSED}` for a port on which nobody listens."""

    answers: tuple[Answer, ...]
    path: str = "/"
    host: str = ""
    scheme: str = "HTTP"
    headers: tuple[tuple[str, str], ...] = ()
    timeout_seconds: int = 5

    def lines(self) -> Iterator[str]:
        """The case as text."""
        yield f"path {self.path!r} host {self.host!r} scheme {self.scheme!r} timeout {self.timeout_seconds} s"
        for name, value in self.headers:
            yield f"header {name!r}: {value!r}"
        for number, answer in enumerate(self.answers):
            for part in answer.parts:
                yield f"connection {number} sends {part!r}"
            yield f"connection {number} ends with {answer.end.value}"

    def filled(self, ports: Mapping[str, int]) -> "Case":
        """The case with the numbers of ``ports`` in place of the placeholders."""

        def text(value: str) -> str:
            for name, number in ports.items():
                value = value.replace(f"{{{name}}}", str(number))
            return value

        def octets(value: bytes) -> bytes:
            for name, number in ports.items():
                value = value.replace(f"{{{name}}}".encode(), str(number).encode())
            return value

        return Case(
            tuple(Answer(tuple(octets(part) for part in answer.parts), answer.end) for answer in self.answers),
            text(self.path),
            text(self.host),
            self.scheme,
            tuple((name, text(value)) for name, value in self.headers),
            self.timeout_seconds,
        )
