"""Plays a case's server while the kubelet's handler probes it, and writes down what both saw."""

import base64
import re
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hpack
from probelet_conformance.handlers.case.case import Case, filled
from probelet_conformance.handlers.server.builtin import HANDSHAKE
from probelet_conformance.handlers.server.connection import Connection
from probelet_conformance.handlers.server.frames import DATA, HEADERS, PREFACE, SETTINGS, fields_of, split
from probelet_conformance.handlers.server.server import Server

from tests.handlers.recorder.kubelet import Answer, Kubelet

RUNS = 5
ELAPSED_STEP_MS = 50
SHOWN = (SETTINGS, HEADERS, DATA)
"""The frames of a request. The others belong to the connection, and when they come is up to Go's scheduler."""


@dataclass(frozen=True)
class Run:
    """One run of a case."""

    answer: dict[str, Any]
    kind: str
    connections: dict[str, int | None]
    received: dict[str, list[dict[str, Any]]]
    elapsed_ms: float


def recorded(raw: Mapping[str, Any], folder: Path, kubelet: Kubelet) -> dict[str, Any]:
    """The case with a new ``expect``. Whether that has ``received`` stays as it was; a new case has it.

    Raises:
        OSError: an address of the case is unavailable.
    """
    before = raw.get("expect", {"received": {}})
    case = Case.of({**raw, "expect": before}, folder)
    runs = [_run(case, kubelet) for _ in range(before.get("runs", RUNS))]
    # The first answer of the most frequent ones stands for all.
    answers = Counter(_key(run.answer) for run in runs)
    usual = next(run for run in runs if _key(run.answer) == answers.most_common(1)[0][0])
    elapsed = statistics.median(run.elapsed_ms for run in runs)
    expect: dict[str, Any] = {"result": usual.answer["result"], "class": usual.kind, **usual.answer}
    expect["connections"] = usual.connections
    if "received" in before:
        expect["received"] = usual.received
    expect["elapsed_ms_about"] = round(elapsed / ELAPSED_STEP_MS) * ELAPSED_STEP_MS
    expect["runs"] = len(runs)
    if len(answers) > 1:
        firsts = {_key(run.answer): run.answer for run in reversed(runs)}
        expect["variants"] = [{**firsts[key], "count": count} for key, count in answers.most_common()]
    if varies := list(_varying(runs)):
        expect["varies"] = varies
    return {**raw, "expect": expect}


def _key(answer: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(answer.items())


def _varying(runs: list[Run]) -> Iterator[str]:
    for name in ("result", "output", "error"):
        if len({run.answer[name] for run in runs}) > 1:
            yield name
    for name in ("connections", "received"):
        if any(getattr(run, name) != getattr(runs[0], name) for run in runs):
            yield name


def _run(case: Case, kubelet: Kubelet) -> Run:
    with Server(case.listeners) as server:
        ports = [(name, filled(port, server.ports)) for name, port in case.ports]
        began = time.monotonic()
        answer = kubelet.probe(filled(case.probe, server.ports), case.pod_ip, ports)
        elapsed_ms = 1000 * (time.monotonic() - began)
    observed = [each for each in case.listeners if each.mode in ("script", "builtin")]
    counts: dict[str, int | None] = {each.port: None for each in case.listeners}
    counts |= {each.port: len(server.connections[each.port]) for each in observed}
    received = {
        each.port: [_received(connection, server.ports) for connection in server.connections[each.port]]
        for each in observed
    }
    return Run(_told(answer, server.ports), answer.kind, counts, received, elapsed_ms)


def _told(answer: Answer, ports: Mapping[str, int]) -> dict[str, Any]:
    output = _templated(answer.output, ports)
    told = {"result": answer.result, "output": output.decode("utf-8", "replace")}
    if told["output"].encode() != output:
        told["output_base64"] = base64.b64encode(output).decode()
    error = None if answer.error is None else _templated(answer.error.encode(), ports).decode()
    return {**told, "error": error}


def _templated(text: bytes, ports: Mapping[str, int]) -> bytes:
    text = re.sub(rb":\d+->", b":{CLIENT}->", text)
    for name, number in ports.items():
        text = text.replace(str(number).encode(), f"{{{name}}}".encode())
    return text


def _received(connection: Connection, ports: Mapping[str, int]) -> dict[str, Any]:
    data = bytes(connection.received)
    if data.startswith(HANDSHAKE):
        return {}
    if not data.startswith(PREFACE):
        return {"bytes": base64.b64encode(_templated(data, ports)).decode()}
    decoder, rows = hpack.Decoder(), []
    for frame in split(data)[0]:
        if frame.kind not in SHOWN or (frame.kind == SETTINGS and frame.flags):
            continue
        row: dict[str, Any] = {"type": frame.name, "flags": frame.flags, "stream": frame.stream}
        if frame.kind == HEADERS:
            fields = [(key, _templated(value.encode(), ports).decode()) for key, value in fields_of(frame, decoder)]
            hidden = [(key, "{TIMEOUT}" if key == "grpc-timeout" else value) for key, value in fields]
            pseudo = [field for field in hidden if field[0].startswith(":")]
            row["headers"] = [*pseudo, *sorted(field for field in hidden if field not in pseudo)]
        elif frame.kind == DATA:
            row["data"] = base64.b64encode(frame.payload).decode()
        rows.append(row)
    return {"h2": rows}
