"""HTTP/2 without TLS (KEP-5999) and gRPC over TLS (KEP-4939), with their gates on: the recorded servers, asked so."""

import json
from collections.abc import Iterator
from typing import Any

from tests.support.paths import HANDLER_CASES

TLS = {"cert": "ecdsa", "alpn": ["h2"]}


def h2c() -> Iterator[dict[str, Any]]:
    """The servers of HTTP/2, without their TLS; those without TLS as they are."""
    for case in recorded("h2.jsonl"):
        for listener in case["server"]["listeners"]:
            listener.pop("tls", None)
        case["probe"]["httpGet"].update(scheme="HTTP", protocol="HTTP2")
        yield renamed(case, "h2c")


def grpc_tls() -> Iterator[dict[str, Any]]:
    """The servers of gRPC behind TLS, and the servers of TLS asked for gRPC."""
    for case in recorded("grpc.jsonl"):
        for listener in case["server"]["listeners"]:
            if listener["mode"] in ("script", "builtin"):
                listener["tls"] = TLS
        case["probe"]["grpc"]["mode"] = "TLS"
        yield renamed(case, "tls")
    for case in recorded("tls.jsonl"):
        if case["handler"] == "http" and case["probe"]["httpGet"].get("scheme") == "HTTPS":
            case["probe"] = {
                "grpc": {"port": "{PORT}", "service": None, "mode": "TLS"},
                "timeoutSeconds": case["probe"]["timeoutSeconds"],
            }
            case["handler"] = "grpc"
            yield renamed(case, "grpc")


def recorded(name: str) -> Iterator[dict[str, Any]]:
    """The cases of a file, without what the handlers answered."""
    for line in (HANDLER_CASES / name).read_text().splitlines():
        case: dict[str, Any] = json.loads(line)
        del case["expect"]
        yield case


def renamed(case: dict[str, Any], what: str) -> dict[str, Any]:
    return {**case, "name": f"{what}_{case['name']}"}
