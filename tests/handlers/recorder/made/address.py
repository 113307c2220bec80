"""Hosts of every spelling, and servers that say too little for TLS."""

import base64
from collections.abc import Iterator
from typing import Any

HOSTS = {
    "ipv6_in_brackets": "[::1]",
    "ipv4_in_brackets": "[127.0.0.1]",
    "brackets_alone": "[]",
    "bracket_in_front": "[::1",
    "bracket_behind": "::1]",
    "bracket_within": "a]b",
    "opening_bracket_within": "a[b",
    "two_colons": "a:b:c",
    "space": "a b",
    "old_spelling": "127.1",
    "unspecified": "0.0.0.0",
    "unspecified_ipv6": "::",
    "empty": "",
    "zone": "::1%lo",
    "percent": "a%b",
}
NAME = "localhost"
SAID = {
    "nothing": b"",
    "one_byte": b"a",
    "three_bytes": b"abc",
    "four_bytes_of_http": b"HTTP",
    "five_bytes": b"abcde",
    "half_a_header_of_tls": b"\x16\x03\x03",
    "half_a_record": b"\x16\x03\x03\x00\x05\x02",
}


def cases() -> Iterator[dict[str, Any]]:
    """The cases, without what the handlers answer."""
    for name, host in HOSTS.items():
        yield refused(f"address_tcp_host_{name}", "tcp", tcp(host), "127.0.0.1")
        yield refused(f"address_tcp_pod_{name}", "tcp", tcp(""), host)
        yield refused(f"address_http_pod_{name}", "http", http("HTTP"), host)
        yield refused(f"address_https_pod_{name}", "http", http("HTTPS"), host)
        yield refused(f"address_grpc_pod_{name}", "grpc", {"grpc": {"port": "{PORT}"}, "timeoutSeconds": 1}, host)
        yield refused(f"address_tcp_late_{name}", "tcp", {**tcp(host), "timeoutSeconds": -1}, "127.0.0.1")
    yield refused("address_tcp_late_name", "tcp", {**tcp(NAME), "timeoutSeconds": -1}, "127.0.0.1")
    for handler, probe in (("tcp", tcp("")), ("http", http("HTTP"))):
        said = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        yield case(f"address_{handler}_pod_is_a_name", handler, probe, NAME, answering(said))
    for name, said in SAID.items():
        yield case(f"address_tls_answered_by_{name}", "http", http("HTTPS"), "127.0.0.1", answering(said))


def tcp(host: str) -> dict[str, Any]:
    return {"tcpSocket": {"port": "{PORT}", "host": host}, "timeoutSeconds": 5}


def http(scheme: str) -> dict[str, Any]:
    return {"httpGet": {"port": "{PORT}", "path": "/", "scheme": scheme}, "timeoutSeconds": 5}


def answering(said: bytes) -> dict[str, Any]:
    """A listener that answers the first bytes of a connection and sends no more."""
    send = [{"op": "send", "data": base64.b64encode(said).decode()}] if said else []
    steps = [{"op": "read", "bytes": 5}, *send, {"op": "half_close"}]
    return {"port": "PORT", "address": "127.0.0.1", "mode": "script", "scripts": [{"steps": steps}]}


def refused(name: str, handler: str, probe: dict[str, Any], pod_ip: str) -> dict[str, Any]:
    return case(name, handler, probe, pod_ip, {"port": "PORT", "address": "127.0.0.1", "mode": "bound-not-listening"})


def case(name: str, handler: str, probe: dict[str, Any], pod_ip: str, listener: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "reason": name.removeprefix("address_").replace("_", " "),
        "handler": handler,
        "podIP": pod_ip,
        "probe": probe,
        "server": {"listeners": [listener]},
    }
