"""A recorded case: a probe, a scripted server, and what the kubelet's handler said."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "conformance" / "handlers"
CERTS = FOLDER / "certs"


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
    """One socket of the scripted server; `scripts[n]` plays the nth connection, the last one repeats."""

    port: str
    address: str
    mode: str
    tls: Mapping[str, Any] | None
    scripts: tuple[tuple[Step, ...], ...]
    builtin: Mapping[str, Any]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> "Listener":
        scripts = tuple(tuple(Step.of(step) for step in script["steps"] or ()) for script in raw.get("scripts") or ())
        return cls(raw["port"], raw["address"], raw["mode"], raw.get("tls"), scripts, raw.get("builtin") or {})


@dataclass(frozen=True)
class Case:
    """What is played, and what is expected of it."""

    name: str
    group: str
    reason: str
    handler: str
    pod_ip: str
    probe: Mapping[str, Any]
    ports: tuple[tuple[str, Any], ...]
    listeners: tuple[Listener, ...]
    expect: Mapping[str, Any]

    @classmethod
    def of(cls, group: str, raw: Mapping[str, Any]) -> "Case":
        ports = (raw.get("container") or {}).get("ports") or ()
        return cls(
            name=raw["name"],
            group=group,
            reason=raw["reason"],
            handler=raw["handler"],
            pod_ip=raw["podIP"],
            probe=raw["probe"],
            ports=tuple((port["name"], port["containerPort"]) for port in ports),
            listeners=tuple(Listener.of(listener) for listener in raw["server"]["listeners"]),
            expect=raw["expect"],
        )

    @property
    def speaks_plain_http(self) -> bool:
        """Whether nothing but HTTP/1.1 without TLS, or TCP alone, is ever spoken."""
        target = self.probe.get("httpGet") or {}
        is_tls = target.get("scheme") == "HTTPS" or any(listener.tls for listener in self.listeners)
        return self.handler == "tcp" or (self.handler == "http" and not is_tls)


def load() -> list[Case]:
    """Every case there is; none if the recordings are not there."""
    return [
        Case.of(path.stem, json.loads(line))
        for path in sorted(FOLDER.glob("*.jsonl"))
        for line in path.read_text().splitlines()
    ]


def filled(value: Any, ports: Mapping[str, int]) -> Any:
    """The value with every placeholder replaced: "{PORT}" alone is a number, "str:{PORT}" its text."""
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
    """Bytes to send, with the placeholders replaced."""
    for name, number in ports.items():
        data = data.replace(f"{{{name}}}".encode(), str(number).encode())
    return data
