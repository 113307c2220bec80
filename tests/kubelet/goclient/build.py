"""Builds the Go client. It first generates the gRPC messages from ``proto/``, because the repository keeps none.

The messages go below ``build/``, and ``go build -overlay`` adds them to the module. protoc comes with grpcio-tools;
``go build`` makes protoc-gen-go from the client's own pinned modules.
"""

import json
import subprocess
import sys
from pathlib import Path

from tests.support.paths import BUILD, ROOT, built

MODULE = ROOT / "tests" / "kubelet" / "goclient"
PROTO = ROOT / "proto"
MESSAGES = Path("proberv1") / "prober.pb.go"
SUFFIXES = (".go", ".mod", ".sum", ".proto", ".py")
"""Of the files that a build reads. A cache of byte code is newer than any program."""
BUILD_SECONDS = 900
"""The first build compiles half a kubelet; later builds take seconds."""


def build_client() -> Path:
    """Builds the program and returns its path. Raises CalledProcessError, whose ``stderr`` gives the reason."""
    sources = [path for folder in (MODULE, PROTO) for path in folder.rglob("*.*") if path.suffix in SUFFIXES]
    return built(BUILD / "goclient", sources, _build)


def _build(program: Path) -> None:
    work = BUILD / "go"
    generated = work / "generated"
    generated.mkdir(parents=True, exist_ok=True)
    plugin = work / "protoc-gen-go"
    _go("build", "-o", str(plugin), "google.golang.org/protobuf/cmd/protoc-gen-go")
    protoc = [sys.executable, "-m", "grpc_tools.protoc", "-I", str(PROTO), f"--plugin=protoc-gen-go={plugin}"]
    _run([*protoc, f"--go_out={generated}", "--go_opt=module=probelet.dev/goclient", "probelet/v1/prober.proto"])
    overlay = work / "overlay.json"
    overlay.write_text(json.dumps({"Replace": {str(MODULE / MESSAGES): str(generated / MESSAGES)}}))
    _go("build", "-buildvcs=false", "-overlay", str(overlay), "-o", str(program), ".")


def _go(*arguments: str) -> None:
    _run(["go", *arguments])


def _run(command: list[str]) -> None:
    subprocess.run(command, cwd=MODULE, capture_output=True, text=True, check=True, timeout=BUILD_SECONDS)
