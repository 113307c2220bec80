"""What a killed probelet and its runtime have kept, as one JSON document, and moved to another time."""

import base64
import json
import struct
import zlib
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict, ParseDict
from probelet.runtime.cri.v1 import api_pb2

from tests.system.upgrade.scene import Scene

TIMES = ("created_at", "started_at", "finished_at")
HEADER_BYTES = 12
FRAME = struct.Struct("<III")
"""rust/play/src/frame.rs: the length of a record, the same inverted, the CRC-32 of its bytes."""
BACKOFF = 0
"""rust/engine/src/journal/record.rs: the number of the variant ``Backoff``."""


def keep(journal: bytes, scene: Scene, killed_ns: int, version: str) -> dict[str, Any]:
    return {
        "version": version,
        "killed_ns": killed_ns,
        "journal": base64.b64encode(journal).decode(),
        "sandboxes": [MessageToDict(status) for status in scene.sandboxes.values()],
        "containers": [
            {"sandbox": scene.sandbox_of[status.id], "status": MessageToDict(status)}
            for status in scene.containers.values()
        ],
    }


def load(file: Path, scene: Scene, now_ns: int) -> bytes:
    """The journal, after ``scene`` has the sandboxes and containers; all as if the kill had been at ``now_ns``."""
    kept = json.loads(file.read_text())
    later = now_ns - kept["killed_ns"]
    for each in kept["sandboxes"]:
        sandbox = ParseDict(each, api_pb2.PodSandboxStatus())
        sandbox.created_at += later
        scene.sandboxes[sandbox.id] = sandbox
    for each in kept["containers"]:
        container = ParseDict(each["status"], api_pb2.ContainerStatus())
        for field in TIMES:
            # 0 is a time that has not come.
            if value := getattr(container, field):
                setattr(container, field, value + later)
        scene.containers[container.id] = container
        scene.sandbox_of[container.id] = each["sandbox"]
    return moved(base64.b64decode(kept["journal"]), later)


def moved(journal: bytes, later_ns: int) -> bytes:
    """The journal with later times of back-off entries: a node forgets an entry after ten minutes."""
    written, at = bytearray(journal[:HEADER_BYTES]), HEADER_BYTES
    while at + FRAME.size <= len(journal):
        length = FRAME.unpack_from(journal, at)[0]
        at += FRAME.size
        record = _moved(journal[at : at + length], later_ns)
        at += length
        written += FRAME.pack(len(record), len(record) ^ 0xFFFFFFFF, zlib.crc32(record)) + record
    return bytes(written)


def _moved(record: bytes, later_ns: int) -> bytes:
    """A record in postcard's format: a back-off entry is its key, seconds, nanoseconds, the last start, the step."""
    if record[0] != BACKOFF:
        return record
    length, at = _number(record, 1)
    _, at = _number(record, at + length)
    _, at = _number(record, at)
    start, end = _number(record, at)
    last_start = (start >> 1 ^ -(start & 1)) + later_ns
    return record[:at] + _bytes_of(last_start << 1 ^ last_start >> 63) + record[end:]


def _number(data: bytes, at: int) -> tuple[int, int]:
    """The varint at ``at``, and the place after it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _bytes_of(value: int) -> bytes:
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])
