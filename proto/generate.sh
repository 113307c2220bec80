#!/bin/sh
# Writes python/probelet/cri/v1/api_pb2.py and .pyi from runtime/v1/api.proto (called by `make proto`).
# Services need no generated stub: client and server read method names and message types from the descriptor.
set -eu
proto=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$proto")
out=$root/python/probelet/cri/v1
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
"${PYTHON:-$root/.venv/bin/python}" -m grpc_tools.protoc -I "$proto" \
  --python_out="$built" --pyi_out="$built" "$proto/runtime/v1/api.proto"
mkdir -p "$out"
mv "$built/runtime/v1/api_pb2.py" "$out/"
# The generator writes Mapping without its arguments, which mypy --strict refuses.
{ echo '# mypy: disable-error-code="type-arg"'; cat "$built/runtime/v1/api_pb2.pyi"; } > "$out/api_pb2.pyi"
