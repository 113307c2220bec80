"""Checks the names and the probe of a case."""

import base64

import msgspec
from probelet._rust import Simulation

from probelet_conformance.handlers.case.case import Case, filled
from probelet_conformance.handlers.compare import CAUSES

NEEDED = {"go-grpc-health": "services", "go-http": "status"}
"""The options that each kind of builtin server requires."""


def check(case: Case) -> None:
    """Checks everything that playing a case looks up.

    Raises:
        ValueError: a name is unknown or a value is wrong; the text begins with its place.
    """
    ports = {listener.port: 1 for listener in case.listeners}
    for name, port in case.ports:
        if not isinstance(filled(port, ports), int):
            raise ValueError(f"container.ports[{name!r}].containerPort: {port!r}: neither a number nor a listener")
    if (kind := case.expect["class"]) not in CAUSES:
        raise ValueError(f"expect.class: {kind!r}: must be one of {', '.join(CAUSES)}")
    for section in ("connections", "received"):
        for name in case.expect.get(section) or {}:
            if name not in ports:
                raise ValueError(f"expect.{section}: {name!r}: no listener has this name")
    for result in (case.expect, *case.expect.get("variants", ())):
        base64.b64decode(result.get("output_base64", ""))
    for index, row in enumerate(row for rows in (case.expect.get("received") or {}).values() for row in rows or []):
        base64.b64decode(row.get("bytes", ""))
        for frame in row.get("h2", []):
            base64.b64decode(frame.get("data", ""))
            if frame["type"] == "HEADERS" and "headers" not in frame:
                raise ValueError(f"expect.received: connection {index}: a HEADERS frame without headers")
    for listener in case.listeners:
        place = f"server.listeners[{listener.port!r}]"
        if listener.mode == "script" and not listener.scripts:
            raise ValueError(f"{place}.scripts: none, where mode is script")
        needed = {"kind", NEEDED.get(listener.builtin.get("kind", ""), "kind")}
        if listener.mode == "builtin" and not needed <= listener.builtin.keys():
            raise ValueError(f"{place}.builtin: needs a kind, and status for go-http, services for go-grpc-health")
        for step in (step for script in listener.scripts for step in script):
            if step.op == "send_forever" and not step.data:
                raise ValueError(f"{place}: send_forever: there is no data to send")
    try:
        probe = filled(case.probe, ports)
        containers = [{"name": "c", "livenessProbe": probe}]
        Simulation().define_pod(msgspec.json.encode({"metadata": {}, "spec": {"containers": containers}}))
    except ValueError as error:
        raise ValueError(f"probe: {error}") from error
