#!/bin/sh
# Generates the Python messages of runtime/v1/api.proto and probelet/v1/prober.proto (called by `make proto`).
# Services need no generated stub: client and server read method names and message types from the descriptor.
set -eu
proto=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$proto")
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT

# messages SOURCE FOLDER: writes the module of a .proto into a folder of the package.
messages() {
  "${PYTHON:-$root/.venv/bin/python}" -m grpc_tools.protoc -I "$proto" \
    --python_out="$built" --pyi_out="$built" "$proto/$1.proto"
  out=$root/python/probelet/$2
  mkdir -p "$out"
  name=$(basename "$1")_pb2
  mv "$built/$(dirname "$1")/$name.py" "$out/"
  # The generator writes Mapping without its arguments, which mypy --strict refuses.
  { echo '# mypy: disable-error-code="type-arg"'; cat "$built/$(dirname "$1")/$name.pyi"; } > "$out/$name.pyi"
}

messages runtime/v1/api cri/v1
messages probelet/v1/prober service/v1
