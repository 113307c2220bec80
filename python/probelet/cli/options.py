"""Options that several verbs have, so that they are spelled and explained the same everywhere."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter, Token


def above_zero(_: Any, tokens: Sequence[Token]) -> float:
    """Seconds, above zero, of a duration as Kubernetes and Go write it. Raises ValueError with one line."""
    from probelet.spec.text.duration import SECOND, DurationError, parse_duration

    text = tokens[0].value
    try:
        nanoseconds = parse_duration(text)
    except DurationError:
        nanoseconds = 0
    if nanoseconds <= 0:
        raise ValueError(f'"{text}" is not a duration above zero; want for example 60s, 1m30s or 500ms')
    return nanoseconds / SECOND


Output = Annotated[Literal["table", "json"], Parameter(name=["--output", "-o"], help="For a person, or for a program.")]
StateDir = Annotated[
    Path | None,
    Parameter(
        name="--state-dir",
        metavar="DIR",
        help="Where the service's control socket is. Default: $XDG_RUNTIME_DIR/probelet, or /tmp/probelet-UID.",
    ),
]
Duration = Annotated[
    float | None,
    Parameter(name="--duration", converter=above_zero, metavar="TIME", help="End after this long: 60s, 1m30s."),
]
Runtime = Annotated[
    str, Parameter(metavar="RUNTIME", help='"process" for programs of this machine, or a CRI socket: unix:///...')
]
PodArgument = Annotated[str, Parameter(name="POD", help="NAME or NAMESPACE/NAME.")]
ContainerArgument = Annotated[str | None, Parameter(name="CONTAINER", help="Only this one. Default: all of the pod.")]
KubeletVersion = Annotated[
    Literal["1.34", "1.35", "1.36", "1.37", "1.38"],
    Parameter(help="Whose kubelet to be like: its rules, gate defaults and User-Agent."),
]
Listen = Annotated[str, Parameter(metavar="ADDR", help="HOST:PORT of the pages; port 0 picks one.")]
NodeName = Annotated[str | None, Parameter(name="--node-name", metavar="NAME", help="Default: the name of this host.")]
