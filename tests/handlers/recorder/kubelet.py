"""The kubelet's probe handlers: a Go program with the packages of Kubernetes, which takes one probe at a time."""

import base64
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.kubelet.recorder.release import KubeletRelease
from tests.support.paths import BUILD

GO_RELEASE = "go1.26"
"""The texts of Go's standard library change between minor releases; 1.36 and 1.37 are built with this one."""
MODULE = Path(__file__).parent / "handlers"
QUIET = {"GRPC_GO_LOG_SEVERITY_LEVEL": "none"}
"""grpc-go writes what goes wrong on a connection to standard error."""
STAMP = "-X k8s.io/component-base/version.gitMajor={} -X k8s.io/component-base/version.gitMinor={}"
"""What the release's build stamps, and the user agent names."""
TIMEOUT = "context deadline exceeded", "i/o timeout", "net/http: request canceled", "TLS handshake timeout"


class GoMissingError(Exception):
    """There is no Go of the right release; the message is one line for a person."""


@dataclass(frozen=True)
class Answer:
    """What a handler returned."""

    result: str
    output: bytes
    error: str | None

    @property
    def kind(self) -> str:
        """The coarse class of the answer, as the recordings name it."""
        output = self.output.decode("utf-8", "replace")
        if self.result in OF_RESULTS:
            return OF_RESULTS[self.result]
        return next(kind for kind, texts in KINDS if any(text in output for text in texts))


OF_RESULTS: Mapping[str, str] = {"success": "ok", "warning": "warning", "unknown": "request"}
KINDS: Sequence[tuple[str, Sequence[str]]] = (
    ("unhealthy", ("service unhealthy",)),
    ("unimplemented", ("error: this server does not implement",)),
    ("timeout", ("timeout: failed to connect", "timeout: health rpc did not", *TIMEOUT)),
    ("rpc", ("error: health rpc probe failed",)),
    ("request", ("error: failed to connect service at", " in address", "invalid port", "no Host in request URL")),
    ("resolve", ("no such host", "no suitable address found")),
    ("refused", ("connection refused",)),
    ("reset", ("connection reset by peer",)),
    ("tls", ("tls: ", "HTTP response to HTTPS client")),
    ("status", ("HTTP probe failed with statuscode",)),
    ("eof", ("EOF",)),
    ("http2", ("http2: ", "stream error: ", "connection error: ", "more than declared Content-Length")),
    ("malformed", ("",)),
)
"""Each class, and the texts that show it; the first that fits counts."""


def build(release: KubeletRelease) -> Path:
    """Builds the program with the handlers of a release; its modules come from the Go proxy.

    Raises:
        GoMissingError: there is no Go, or one of another release.
    """
    BUILD.mkdir(exist_ok=True)
    go, toolchain = _go_of(release)
    environment = {**os.environ, "GOTOOLCHAIN": toolchain}
    program = BUILD / f"kubelet-handlers-{release.version}"
    module = release.module(MODULE, BUILD)
    # A copy has no go.sum yet; the sums come from the checksum database.
    command = [go, "build", "-trimpath", "-buildvcs=false", "-mod=mod" if module.parent == BUILD else "-mod=readonly"]
    stamp = STAMP.format(*release.minor.split("."))
    command += ["-tags", release.tag, "-ldflags", stamp, "-o", f"{program}", "."]
    subprocess.run(command, cwd=module, env=environment, check=True)
    return program


def _go_of(release: KubeletRelease) -> tuple[str, str]:
    """The go command, and the toolchain that it builds a release with: its own, or one that it fetches."""
    go = shutil.which("go")
    if go is None:
        raise GoMissingError(f"no go found; {GO_RELEASE} builds the kubelet's handlers")
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    of_go = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, env=environment, check=True)
    if not _is_minor(of_go.stdout.strip()):
        raise GoMissingError(f"{go} is {of_go.stdout.strip()}; the kubelet is built with {GO_RELEASE}")
    its_own = release.go(BUILD)
    return go, "local" if _is_minor(its_own) else its_own


def _is_minor(version: str) -> bool:
    return re.match(re.escape(GO_RELEASE) + r"(\.|$)", version) is not None


class Kubelet:
    """A running program."""

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | QUIET
        )

    def __enter__(self) -> "Kubelet":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        # The process exits at the end of its input.
        self._process.communicate()

    def probe(self, probe: Mapping[str, Any], pod_ip: str, ports: Sequence[tuple[str, int]]) -> Answer:
        """Carries out a probe once."""
        named = [{"name": name, "containerPort": port} for name, port in ports]
        if self._process.stdin is None or self._process.stdout is None:
            raise TypeError("the process was started with pipes")
        self._process.stdin.write(json.dumps({"probe": probe, "pod_ip": pod_ip, "ports": named}).encode() + b"\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return Answer(answer["result"], base64.b64decode(answer["output"] or ""), answer["error"])
