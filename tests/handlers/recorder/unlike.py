"""Which of the cases of 1.36.3 another release answers otherwise."""

import base64
import re
from typing import Any

from probelet_conformance.handlers.compare import TIMEOUTS

from tests.handlers.recorder.answer import is_known, varying
from tests.kubelet.recorder.release import KubeletRelease

AGENT = re.compile(r"kube-probe/[\d.]+( grpc-go/[\d.]+)?")
READING = re.compile(r"^(context deadline exceeded|net/http: request canceled)(?= \(.* while reading body\)$)")
"""Two wordings of one error; which one appears is a race."""
RACES = ("close_before_request", "half_close_before_request", "reset_before_request", "speaks_first", "tcp_reset")
"""The beginnings of the names of cases whose answer is a race of the sockets."""
TEXTS = ("result", "output", "output_base64", "error")


def question(case: dict[str, Any], release: KubeletRelease) -> dict[str, Any]:
    """The case as it is asked of another release. Names are unique among all files."""
    return {**case, "name": f"{release.minor.replace('.', '_')}_{case['name']}", "kubernetes": release.name}


def settled(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """The new recording, with what has ever varied and how. The class is as before if the texts are."""
    known, seen = before["expect"], now["expect"]
    is_same = all(known.get(name) == seen.get(name) for name in TEXTS)
    variants = [*seen.get("variants", ()), *known.get("variants", ())]
    more = {"varies": varying(known, seen), "variants": variants}
    expect = {**seen, **({"class": known["class"]} if is_same else {}), **more}
    return {**now, "expect": {key: value for key, value in expect.items() if value != []}}


def is_unlike(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether the answer is another one than that of 1.36.3, and more than the user agent or a race differs."""
    known, seen = before["expect"], now["expect"]
    if before["name"].startswith(RACES):
        return False
    if known["class"] == "timeout" or READING.match(known["error"] or ""):
        return _timeless(known) != _timeless(seen)
    return not is_known(_comparable(known, known), _comparable(seen, known))


def _timeless(expect: dict[str, Any]) -> tuple[str, ...]:
    output, error = TIMEOUTS.sub("", expect["output"]), READING.sub("", expect["error"] or "")
    return expect["result"], output, error


def _comparable(expect: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """What is compared: no class, which follows from the texts, no user agent, and of what was received what ``known``
    has too."""
    expect = {key: value for key, value in expect.items() if key != "class"}
    # protobuf-go puts one space or two, or U+00A0, into its texts, by a hash of the program.
    expect["output"] = " ".join(expect["output"].split())
    rows = {
        port: [_without_agent(row) for row, other in zip(expect["received"][port], others or (), strict=False) if other]
        for port, others in (known.get("received") or {}).items()
        if expect.get("received", {}).get(port)
    }
    return {**expect, "received": rows}


def _without_agent(row: dict[str, Any]) -> dict[str, Any]:
    if "bytes" in row:
        return {"bytes": AGENT.sub("", base64.b64decode(row["bytes"]).decode("latin-1"))}
    return {"h2": [_frame_without_agent(frame) for frame in row.get("h2", ())]}


def _frame_without_agent(frame: dict[str, Any]) -> dict[str, Any]:
    return {**frame, "headers": [[name, AGENT.sub("", value)] for name, value in frame.get("headers", ())]}
