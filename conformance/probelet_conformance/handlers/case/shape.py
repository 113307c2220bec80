"""The fields that playing a case needs; reading checks them, so that playing cannot fail on them."""

from typing import Any, Literal, NotRequired, TypedDict

Result = Literal["success", "warning", "unknown", "failure"]


class Step(TypedDict):
    """One step of a connection's script."""

    op: Literal["close", "half_close", "read", "read_h2", "reset", "send", "send_forever", "sleep", "tcp_close"]
    data: NotRequired[str]
    repeat: NotRequired[int]
    chunk: NotRequired[int]
    ms: NotRequired[int]
    delay_ms: NotRequired[int]
    until: NotRequired[str]
    bytes: NotRequired[int]
    frame: NotRequired[str]
    end_stream: NotRequired[bool]


class Tls(TypedDict):
    """A listener's TLS settings."""

    cert: str
    alpn: NotRequired[list[str] | None]
    ciphers: NotRequired[list[str] | None]
    client_auth: NotRequired[str]
    min: NotRequired[str]
    max: NotRequired[str]


class Builtin(TypedDict):
    """A server of its own kind, beyond a script."""

    kind: Literal["go-grpc-health", "go-http"]
    status: NotRequired[int]
    body: NotRequired[str]
    headers: NotRequired[dict[str, Any] | None]
    delay_ms: NotRequired[int]
    services: NotRequired[dict[str, Any] | None]


class Script(TypedDict):
    """The steps on one connection."""

    steps: list[Step] | None


class Listener(TypedDict):
    """One socket of the scripted server."""

    port: str
    address: str
    mode: Literal["bound-not-listening", "builtin", "full-backlog", "never-accept", "script"]
    scripts: NotRequired[list[Script] | None]
    tls: NotRequired[Tls | None]
    builtin: NotRequired[Builtin | None]


class Server(TypedDict):
    """All listeners."""

    listeners: list[Listener]


class Frame(TypedDict):
    """An HTTP/2 frame that the server received."""

    type: str
    headers: NotRequired[list[tuple[str, str]]]
    data: NotRequired[str]


class Hello(TypedDict):
    """A client's first offer in TLS."""

    server_name: str
    alpn: list[str] | None


class Received(TypedDict):
    """The bytes received on one connection."""

    bytes: NotRequired[str]
    h2: NotRequired[list[Frame]]
    client_hello: NotRequired[Hello | None]


class Variant(TypedDict):
    """Another result of the kubelet's handler for the same case."""

    result: Result
    output: str
    error: str | None


Expect = TypedDict(
    "Expect",
    {
        "result": Result,
        "class": str,
        "output": str,
        "error": str | None,
        "connections": NotRequired[dict[str, int | None] | None],
        "received": NotRequired[dict[str, list[Received] | None] | None],
        "varies": NotRequired[list[str]],
        "variants": NotRequired[list[Variant]],
        "output_base64": NotRequired[str],
    },
)


class Shape(TypedDict):
    """A whole case."""

    name: str
    kubernetes: NotRequired[str]
    handler: Literal["grpc", "http", "tcp"]
    podIP: str
    probe: dict[str, Any]
    server: Server
    expect: Expect
