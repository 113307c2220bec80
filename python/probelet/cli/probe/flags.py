"""The flags of ``probelet probe``, named after the fields of a probe."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from cyclopts import Parameter, Token

from probelet.cli.options import NamedPath


def _seconds(_: Any, tokens: Sequence[Token]) -> int:
    """Parses timeoutSeconds as a number, or as a duration of whole seconds."""
    from probelet.spec.text.duration import SECOND, DurationError, parse_duration

    text = tokens[0].value
    if text.lstrip("+-").isdecimal() and text.isascii():
        return int(text)
    try:
        whole, rest = divmod(parse_duration(text), SECOND)
    except DurationError:
        whole, rest = 0, 1
    if rest:
        raise ValueError(f'"{text}" is not a whole number of seconds; want for example 1 or 10s')
    return whole


def _tries(_: Any, tokens: Sequence[Token]) -> int:
    text = tokens[0].value
    if not text.isascii() or not text.isdecimal() or int(text[:9]) < 1:
        raise ValueError(f'"{text}" is not a number of tries above zero; the kubelet makes 3')
    return int(text[:9])


def _number(_: Any, tokens: Sequence[Token]) -> int:
    text = tokens[0].value
    if not text.isascii() or not text.isdecimal():
        raise ValueError(f'"{text}" is not a number; a grpc probe takes no port names')
    return int(text[:9])


Port = Annotated[str, Parameter(name="--port", metavar="PORT", help="Port number, or a name from --container-port.")]
NumericPort = Annotated[
    int, Parameter(name="--port", converter=_number, metavar="PORT", help="Port number; grpc takes no names.")
]
Host = Annotated[
    str, Parameter(name="--host", metavar="HOST", show_default=False, help="Host to use instead of the pod's IP.")
]
Timeout = Annotated[
    int, Parameter(name="--timeout", converter=_seconds, metavar="SECONDS", help="timeoutSeconds of each try.")
]
PodIp = Annotated[
    str | None, Parameter(name="--pod-ip", metavar="IP", help="Default: 127.0.0.1; with --from, the running pod's IP.")
]
ContainerPort = Annotated[
    list[str] | None,
    Parameter(name="--container-port", metavar="NAME=N", help="Named port of the container; repeatable."),
]
Tries = Annotated[
    int,
    Parameter(name="--tries", converter=_tries, metavar="N", help="Most tries after prober errors; a kubelet makes 3."),
]
Runtime = Annotated[
    str | None, Parameter(name="--runtime", metavar="SOCKET", help="For exec: a CRI socket, unix:///...")
]
ContainerId = Annotated[
    str | None, Parameter(name="--container-id", metavar="ID", help="For exec: ID of a container in --runtime.")
]
From = Annotated[
    NamedPath | None,
    Parameter(name="--from", metavar="FILE", help="Take the probe from a pod or workload in this manifest; or -."),
]
PodName = Annotated[
    str | None, Parameter(name="--pod", metavar="NAME", help="Pod or workload in --from, if it has several.")
]
ContainerName = Annotated[
    str | None, Parameter(name="--container", metavar="NAME", help="Container of that pod, if it has several.")
]
Type = Annotated[
    Literal["liveness", "readiness", "startup"] | None,
    Parameter(name="--type", help="Probe of that container, if it has several."),
]
StandIn = Annotated[
    bool,
    Parameter(
        name="--stand-in",
        negative="",
        help="With --from: a stand-in answers in the place of the container, as with run --stand-in.",
    ),
]
Spec = Annotated[
    str | None, Parameter(name="--spec", metavar="JSON", help="A v1.Probe; used without defaults and validation.")
]
