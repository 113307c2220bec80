"""A recorded case: a probe, a scripted server, and the result of the kubelet's handler."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probelet_conformance.handlers.server.certificate import certificate
from probelet_conformance.release import release_of


@dataclass(frozen=True)
class Step:
    """One step of a connection's script."""

    op: str
    data: bytes = b""
    repeat: int = 1
    chunk: int = 0
    delay_s: float = 0.0
    until: bytes = b""
    count: int = 0
    frame: str = ""
    end_stream: bool = False

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> "Step":
        return cls(
            op=raw["op"],
            data=base64.b64decode(raw.get("data", "")),
            repeat=raw.get("repeat", 1),
            chunk=raw.get("chunk", 0),
            delay_s=(raw.get("ms", 0) or raw.get("delay_ms", 0)) / 1000,
            until=base64.b64decode(raw.get("until", "")),
            count=raw.get("bytes", 0),
            frame=raw.get("frame", ""),
            end_stream=raw.get("end_stream", False),
        )


@dataclass(frozen=True)
class Listener:
    """One socket of the scripted server; `scripts[n]` plays the nth connection, the last script all later ones."""

    port: str
    address: str
    mode: str
    tls: Mapping[str, Any] | None
    certificate: Path | None
    scripts: tuple[tuple[Step, ...], ...]
    builtin: Mapping[str, Any]
    number: int = 0
    """The TCP port; 0 is any that is free."""

    @classmethod
    def of(cls, raw: Mapping[str, Any], folder: Path) -> "Listener":
        tls = raw.get("tls")
        return cls(
            port=raw["port"],
            address=raw["address"],
            mode=raw["mode"],
            tls=tls,
            certificate=certificate(tls["cert"], folder) if tls else None,
            scripts=tuple(
                tuple(Step.of(step) for step in script["steps"] or ()) for script in raw.get("scripts") or ()
            ),
            builtin=raw.get("builtin") or {},
        )


@dataclass(frozen=True)
class Case:
    """The inputs of a case and its expected result."""

    name: str
    reason: str
    handler: str
    pod_ip: str
    probe: Mapping[str, Any]
    ports: tuple[tuple[str, Any], ...]
    listeners: tuple[Listener, ...]
    expect: Mapping[str, Any]
    release: str
    """The minor release of the kubelet that was recorded, such as 1.36."""

    @classmethod
    def of(cls, raw: Mapping[str, Any], folder: Path) -> "Case":
        """Reads a case of a file in `folder`.

        Raises:
            KeyError, TypeError, ValueError: `raw` is no case.
        """
        ports = (raw.get("container") or {}).get("ports") or ()
        return cls(
            name=raw["name"],
            reason=raw.get("reason", ""),
            handler=raw["handler"],
            pod_ip=raw["podIP"],
            probe=raw["probe"],
            ports=tuple((port["name"], port["containerPort"]) for port in ports),
            listeners=tuple(Listener.of(listener, folder) for listener in raw["server"]["listeners"]),
            expect=raw["expect"],
            release=release_of(raw.get("kubernetes", "")),
        )

    @property
    def speaks_plain_http(self) -> bool:
        """True if every connection is HTTP/1.1 without TLS, or TCP alone."""
        target = self.probe.get("httpGet") or {}
        is_tls = target.get("scheme") == "HTTPS" or any(listener.tls for listener in self.listeners)
        return self.handler == "tcp" or (self.handler == "http" and not is_tls)


def filled(value: Any, ports: Mapping[str, int]) -> Any:
    """The value with every placeholder replaced: "{PORT}" alone becomes a number, "str:{PORT}" its text."""
    if isinstance(value, str):
        for name, number in ports.items():
            if value == f"{{{name}}}":
                return number
            value = value.replace(f"{{{name}}}", str(number))
        return value.removeprefix("str:")
    if isinstance(value, Mapping):
        return {key: filled(item, ports) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, ports) for item in value]
    return value


def filled_bytes(data: bytes, ports: Mapping[str, int]) -> bytes:
    """The bytes to send, with their placeholders replaced."""
    for name, number in ports.items():
        data = data.replace(f"{{{name}}}".encode(), str(number).encode())
    return data
