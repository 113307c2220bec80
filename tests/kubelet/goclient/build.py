"""Builds the Go client. It first generates the gRPC messages from ``proto/``, because the repository keeps none.

The messages go below ``build/``, and ``go build -overlay`` adds them to the module. protoc comes with grpcio-tools;
``go build`` makes protoc-gen-go from the client's own pinned modules.
"""

import json
import os
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
    return built(BUILD / "goclient", sources(), _build)


def sources() -> list[Path]:
    """The files that a build reads."""
    return [path for folder in (MODULE, PROTO) for path in folder.rglob("*.*") if path.suffix in SUFFIXES]


def generate_messages() -> dict[str, str]:
    """Generates the messages; returns their place in the module and the file. Raises CalledProcessError."""
    generated = BUILD / "go" / "generated"
    generated.mkdir(parents=True, exist_ok=True)
    plugin = BUILD / "go" / "protoc-gen-go"
    run("go", "build", "-o", str(plugin), "google.golang.org/protobuf/cmd/protoc-gen-go")
    protoc = [sys.executable, "-m", "grpc_tools.protoc", "-I", str(PROTO), f"--plugin=protoc-gen-go={plugin}"]
    run(*protoc, f"--go_out={generated}", "--go_opt=module=probelet.dev/goclient", "probelet/v1/prober.proto")
    return {str(MODULE / MESSAGES): str(generated / MESSAGES)}


def run(*command: str, **environment: str) -> str:
    """Runs a command in the module and returns what it prints. Raises CalledProcessError."""
    names = {**os.environ, **environment}
    result = subprocess.run(
        command, cwd=MODULE, env=names, capture_output=True, text=True, check=True, timeout=BUILD_SECONDS
    )
    return result.stdout


def _build(program: Path) -> None:
    file = BUILD / "go" / "overlay.json"
    messages = generate_messages()
    file.write_text(json.dumps({"Replace": messages}))
    run("go", "build", "-buildvcs=false", "-overlay", str(file), "-o", str(program), ".")
