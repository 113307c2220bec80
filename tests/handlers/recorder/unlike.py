"""Which of the cases of 1.36.3 another release answers otherwise."""

import base64
import re
from typing import Any

from tests.handlers.recorder.answer import is_known, varying
from tests.kubelet.recorder.release import KubeletRelease

AGENT = re.compile(r"kube-probe/[\d.]+( grpc-go/[\d.]+)?")


def question(case: dict[str, Any], release: KubeletRelease) -> dict[str, Any]:
    """The case as it is asked of another release. Names are unique among all files."""
    return {**case, "name": f"{release.minor.replace('.', '_')}_{case['name']}", "kubernetes": release.name}


def settled(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """The new recording, with what has ever varied and how."""
    known, seen = before["expect"], now["expect"]
    expect = {
        **seen,
        "varies": varying(known, seen),
        "variants": [*seen.get("variants", ()), *known.get("variants", ())],
    }
    return {**now, "expect": {key: value for key, value in expect.items() if value != []}}


def is_unlike(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether the answer is another one than that of 1.36.3, and more than the user agent differs."""
    return not is_known(_nameless(before["expect"]), _nameless(now["expect"]))


def _nameless(expect: dict[str, Any]) -> dict[str, Any]:
    """The answer without its class, which follows from the texts, and with no user agent in what was received."""
    expect = {key: value for key, value in expect.items() if key != "class"}
    received = expect.get("received") or {}
    return {
        **expect,
        "received": {port: [_without_agent(row) for row in rows or ()] for port, rows in received.items()},
    }


def _without_agent(row: dict[str, Any]) -> dict[str, Any]:
    if "bytes" in row:
        return {"bytes": AGENT.sub("", base64.b64decode(row["bytes"]).decode("latin-1"))}
    return {"h2": [_frame_without_agent(frame) for frame in row.get("h2", ())]}


def _frame_without_agent(frame: dict[str, Any]) -> dict[str, Any]:
    return {**frame, "headers": [[name, AGENT.sub("", value)] for name, value in frame.get("headers", ())]}
