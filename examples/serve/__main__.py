"""A small node agent: it hands the probes of one pod to ``probelet serve`` and prints each result.

Its argument is the path of the service's socket.
"""

import json
import socket
import sys
import time
from pathlib import Path
from typing import Any

import grpc
from probelet.service.v1 import prober_pb2 as pb

START_SECONDS = 30
TIMES = {"periodSeconds": 1, "timeoutSeconds": 1, "successThreshold": 1, "failureThreshold": 3}


def main(path: Path) -> None:
    give_up = time.monotonic() + START_SECONDS
    while not path.is_socket():
        if time.monotonic() > give_up:
            sys.exit(f"{path}: no service has opened this socket within {START_SECONDS} s")
        time.sleep(0.05)
    target = socket.create_server(("127.0.0.1", 0))
    probe = {"tcpSocket": {"port": target.getsockname()[1]}, **TIMES}
    container = {"name": "app", "image": "none", "readinessProbe": probe}
    pod = {"metadata": {"uid": "u", "name": "example", "namespace": "default"}, "spec": {"containers": [container]}}
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    row = {"name": "app", "containerID": "example://1", "state": {"running": {"startedAt": now}}, "started": True}
    status = {"phase": "Running", "podIP": "127.0.0.1", "containerStatuses": [row]}

    channel = grpc.insecure_channel(f"unix://{path}")
    results = watch(channel)
    next(results)  # The first message holds all cached results: none yet.
    call(channel, "SetPodStatus", pb.SetPodStatusRequest(pod_uid="u", status=text(status)))
    call(channel, "AddPod", pb.AddPodRequest(pod=text(pod)))
    for message in results:
        result = message.results[0]
        word = pb.Result.Name(result.result) if result.result else "gone"
        print(pb.ProbeType.Name(result.probe_type).lower(), result.container_id, word, flush=True)
        if result.result == pb.SUCCESS:
            request = pb.UpdatePodStatusRequest(pod=text(pod), status=text(status))
            filled = json.loads(call(channel, "UpdatePodStatus", request, pb.UpdatePodStatusResponse).status)
            print("ready:", filled["containerStatuses"][0]["ready"])
            call(channel, "RemovePodStatus", pb.RemovePodStatusRequest(pod_uid="u"))
        elif not result.result:
            return


def watch(channel: Any) -> Any:
    return channel.unary_stream(
        "/probelet.v1.Prober/WatchResults",
        request_serializer=pb.WatchResultsRequest.SerializeToString,
        response_deserializer=pb.WatchResultsResponse.FromString,
    )(pb.WatchResultsRequest())


def text(document: dict[str, Any]) -> bytes:
    return json.dumps(document).encode()


def call(channel: Any, name: str, request: Any, response: Any = pb.AddPodResponse) -> Any:
    """Makes one call. All empty responses are alike, so they decode as AddPodResponse."""
    return channel.unary_unary(
        f"/probelet.v1.Prober/{name}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=response.FromString,
    )(request)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
