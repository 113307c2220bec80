"""The two probers of the comparison: ours, and Go's net/http configured as the kubelet configures it."""

import base64
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from probelet import _rust

from tests.handlers.differential.case import USER_AGENT, Case
from tests.support.paths import BUILD, built

# The texts of net/http change between minor releases; the kubelet of the recordings is built with this one.
GO_RELEASE = "go1.26"
POD_IP = "127.0.0.1"


class GoMissingError(Exception):
    """There is no Go of the right release to compare with; the message is one line for a person."""


@dataclass(frozen=True)
class ProbeReport:
    """The answer of a prober to a case. ``kind`` is our cause, or the class of Go's error."""

    result: str
    output: bytes
    error: bytes | None
    kind: str


def build(name: str = "gohttp") -> Path:
    """Builds the Go program in the folder ``name``, from the standard library alone.

    Raises:
        GoMissingError: there is no Go, or one of another release.
    """
    go = shutil.which("go")
    if go is None:
        raise GoMissingError(f"no go found; {GO_RELEASE} is compared with")
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOPROXY": "off", "GOFLAGS": ""}
    release = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, env=environment, check=True)
    if not re.match(re.escape(GO_RELEASE) + r"(\.|$)", release.stdout.strip()):
        raise GoMissingError(f"{go} is {release.stdout.strip()}; {GO_RELEASE} is compared with")
    folder = Path(__file__).parent / name

    def compile(program: Path) -> None:
        subprocess.run([go, "build", "-o", program, "."], cwd=folder, env=environment, check=True)

    # Another release of Go answers otherwise, from the same sources.
    return built(BUILD / f"{name}-{release.stdout.strip()}", folder.iterdir(), compile)


class Go:
    """A running Go prober, which takes one question at a time."""

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> "Go":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        # The process exits at the end of its input.
        self._process.communicate()

    def probe(self, case: Case, port: int) -> ProbeReport:
        asked = {
            "scheme": case.scheme,
            "host": case.host or POD_IP,
            "port": port,
            "path": case.path,
            "headers": case.headers,
            "timeout_seconds": case.timeout_seconds,
            "user_agent": USER_AGENT,
        }
        if self._process.stdin is None or self._process.stdout is None:
            raise TypeError("the process was started with pipes")
        self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        error = answer["error"]
        return ProbeReport(
            answer["result"],
            base64.b64decode(answer["output"] or ""),
            None if error is None else base64.b64decode(error),
            answer["class"],
        )


def probe(case: Case, port: int) -> ProbeReport:
    """Runs the case's probe with our handlers."""
    target = {
        "path": case.path,
        "port": port,
        "host": case.host,
        "scheme": case.scheme,
        "httpHeaders": [{"name": name, "value": value} for name, value in case.headers],
    }
    spec = json.dumps({"httpGet": target, "timeoutSeconds": case.timeout_seconds}).encode()
    answer: dict[str, Any] = json.loads(_rust.attempt(spec, POD_IP, [], USER_AGENT))
    numbers, error = answer["output_bytes"], answer["error"]
    output = bytes(numbers) if numbers is not None else answer["output"].encode()
    return ProbeReport(answer["result"], output, None if error is None else error.encode(), answer["cause"])
