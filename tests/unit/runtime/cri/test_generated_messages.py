"""The generated messages and the client match the proto file."""

import inspect
from pathlib import Path

from google.protobuf import descriptor_pb2
from grpc_tools import protoc
from probelet.runtime.cri import RuntimeClient, grpc_channel
from probelet.runtime.cri.v1 import api_pb2

from tests.support.paths import ROOT

PROTO = ROOT / "proto"

NAMED_DIFFERENTLY = {"GetContainerEvents": "container_events"}


def forget_json_names(message: descriptor_pb2.DescriptorProto) -> None:
    """Removes the JSON names, which the compiler writes into a descriptor set but not into Python modules."""
    for field in message.field:
        field.ClearField("json_name")
    for nested in message.nested_type:
        forget_json_names(nested)


def test_the_committed_messages_match_the_proto_file(tmp_path: Path) -> None:
    built = tmp_path / "api.binpb"
    arguments = ["protoc", f"-I{PROTO}", f"--descriptor_set_out={built}", "runtime/v1/api.proto"]
    assert protoc.main(arguments) == 0
    from_file = descriptor_pb2.FileDescriptorSet.FromString(built.read_bytes()).file[0]
    committed = descriptor_pb2.FileDescriptorProto.FromString(api_pb2.DESCRIPTOR.serialized_pb)
    for each in (from_file, committed):
        for message in each.message_type:
            forget_json_names(message)
    assert committed == from_file, "run make proto"


def test_the_client_has_every_rpc_of_the_runtime_service() -> None:
    rpcs = set(grpc_channel.METHODS)
    expected = {NAMED_DIFFERENTLY.get(rpc, grpc_channel.snake_case(rpc)) for rpc in rpcs}
    methods = {name for name, _ in inspect.getmembers(RuntimeClient, inspect.isfunction) if not name.startswith("_")}
    assert methods - {"aclose", "verify"} == expected
