"""Compares an observed result with the recorded one, by the rules in the recordings' README."""

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from probelet_conformance.difference import Difference
from probelet_conformance.handlers.case.case import Case
from probelet_conformance.handlers.server.connection import Connection
from probelet_conformance.handlers.server.frames import messages_of, recorded_messages, recorded_requests, requests_of
from probelet_conformance.handlers.server.tls import Hello

# Class of the recordings -> the causes that match it.
CAUSES: Mapping[str, frozenset[str]] = {
    "ok": frozenset({"ok"}),
    "warning": frozenset({"redirect"}),
    "status": frozenset({"status"}),
    "malformed": frozenset({"malformed"}),
    "timeout": frozenset({"connect_timeout", "tls", "header_timeout", "body", "grpc_status"}),
    "eof": frozenset({"eof"}),
    "reset": frozenset({"reset"}),
    "refused": frozenset({"refused"}),
    "resolve": frozenset({"dns"}),
    "request": frozenset({"request", "port"}),
    "tls": frozenset({"tls"}),
    "http2": frozenset({"http2"}),
    "redirects": frozenset({"redirect"}),
    "unhealthy": frozenset({"grpc_status"}),
    "unimplemented": frozenset({"grpc_status"}),
    "rpc": frozenset({"grpc_status"}),
}
# Classes whose messages depend on the library: TLS alerts, HTTP/2 and RPC errors, and HTTP/1.1 within TLS.
FREE_WORDING = frozenset({"malformed", "tls", "http2", "rpc"})
TIMEOUTS = re.compile(
    r"context deadline exceeded( \(Client\.Timeout exceeded while awaiting headers\))?$"
    r"|net/http: request canceled( while waiting for connection)? \(Client\.Timeout exceeded while awaiting headers\)$"
)
CONNECTIONS_COMPARED_MAX = 12


@dataclass(frozen=True)
class Seen:
    """The observed result of a case."""

    outcome: Mapping[str, Any]
    ports: Mapping[str, int] = field(default_factory=dict)
    connections: Mapping[str, list[Connection]] = field(default_factory=dict)

    @property
    def output(self) -> bytes:
        numbers = self.outcome["output_bytes"]
        return bytes(numbers) if numbers is not None else self.outcome["output"].encode()


def differences(case: Case, seen: Seen) -> list[Difference]:
    """The differences that matter, by section: result, cause, text, received."""
    found = [*_result(case, seen), *_cause(case, seen), *_text(case, seen)]
    if "received" not in case.expect.get("varies", ()):
        found += _connections(case, seen)
    return found


def _variants(case: Case) -> list[Mapping[str, Any]]:
    return [case.expect, *case.expect.get("variants", ())]


def _result(case: Case, seen: Seen) -> Iterator[Difference]:
    mine = _outcome(seen.outcome)
    theirs = [_outcome(variant) for variant in _variants(case)]
    if mine not in theirs:
        details = {key: seen.outcome[key] for key in ("output", "error", "cause")}
        yield Difference("result", 0, theirs[0], {**mine, "told": details})


def _outcome(result: Mapping[str, Any]) -> dict[str, object]:
    return {"result": result["result"], "has_error": result["error"] is not None}


def _cause(case: Case, seen: Seen) -> Iterator[Difference]:
    kind, cause = case.expect["class"], seen.outcome["cause"]
    right = CAUSES[kind] | ({"body"} if case.expect["error"] is not None else set())
    if cause not in right and not case.expect.get("variants"):
        yield Difference("cause", 0, sorted(right), cause)


def _text(case: Case, seen: Seen) -> Iterator[Difference]:
    kind = case.expect["class"]
    is_free = kind in FREE_WORDING and not (kind == "malformed" and case.speaks_plain_http)
    if is_free:
        return
    mine = _templated(seen.output, seen) + b"|" + _templated((seen.outcome["error"] or "").encode(), seen)
    if _asks_localhost(case):
        # /etc/hosts of the machine that recorded had the IPv4 address alone, and most have ::1 too, which comes first.
        mine = mine.replace(b"[::1]:", b"127.0.0.1:")
    theirs = [_recorded(variant) for variant in _variants(case)]
    if kind == "timeout":
        mine, theirs = _timeless(mine), [_timeless(text) for text in theirs]
    if mine not in theirs:
        yield Difference("text", 0, _shown(theirs[0]), _shown(mine))


def _asks_localhost(case: Case) -> bool:
    return any(action.get("host") == "localhost" for action in case.probe.values() if isinstance(action, dict))


def _recorded(variant: Mapping[str, Any]) -> bytes:
    output = variant.get("output_base64")
    output = base64.b64decode(output) if output is not None else variant["output"].encode()
    return output + b"|" + (variant["error"] or "").encode()


def _templated(text: bytes, seen: Seen) -> bytes:
    text = re.sub(rb":\d+->", b":{CLIENT}->", text)
    for name, number in seen.ports.items():
        text = text.replace(str(number).encode(), f"{{{name}}}".encode())
    return text


def _timeless(text: bytes) -> bytes:
    output, bar, error = text.decode().rpartition("|")
    return (TIMEOUTS.sub("timeout", output) + bar + error).encode()


def _shown(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _connections(case: Case, seen: Seen) -> Iterator[Difference]:
    for name, number in (case.expect.get("connections") or {}).items():
        mine = len(seen.connections[name])
        if number is not None and mine != number and "connections" not in case.expect.get("varies", ()):
            yield Difference("received", 0, f"{name}: {number} connections", f"{name}: {mine} connections")
    for name, recorded in (case.expect.get("received") or {}).items():
        for index, theirs in enumerate((recorded or [])[:CONNECTIONS_COMPARED_MAX]):
            if index < len(seen.connections[name]):
                for expected, got in _received(seen, seen.connections[name][index], theirs):
                    yield Difference("received", index, expected, got)


def _received(seen: Seen, connection: Connection, theirs: Mapping[str, Any]) -> Iterator[tuple[object, object]]:
    if hello := theirs.get("client_hello"):
        # On a listener without TLS, the received bytes begin with the ClientHello.
        mine_hello = connection.hello or Hello.of(bytes(connection.received))
        offered = mine_hello and [mine_hello.server_name, list(mine_hello.alpn)]
        if offered != (wanted := [hello["server_name"], hello["alpn"] or []]):
            yield wanted, offered
    data = bytes(connection.received)
    if "bytes" in theirs:
        sent, wanted_bytes = _templated(data, seen), base64.b64decode(theirs["bytes"])
        if sent != wanted_bytes:
            yield _shown(wanted_bytes), _shown(sent)
    elif wanted_requests := recorded_requests(theirs.get("h2", [])):
        mine = [[(key, _templated(value.encode(), seen).decode()) for key, value in one] for one in requests_of(data)]
        if mine != wanted_requests:
            yield wanted_requests, mine
        if messages_of(data) != (messages := recorded_messages(theirs["h2"])):
            yield _shown(messages), _shown(messages_of(data))
