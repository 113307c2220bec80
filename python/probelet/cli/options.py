"""Options of several verbs, so that they have the same name and help everywhere."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter, Token


def above_zero(_: Any, tokens: Sequence[Token]) -> float:
    """Parses a Go duration above zero into seconds. Raises ValueError, one line."""
    from probelet.spec.text.duration import SECOND, DurationError, parse_duration

    text = tokens[0].value
    try:
        nanoseconds = parse_duration(text)
    except DurationError:
        nanoseconds = 0
    if nanoseconds <= 0:
        raise ValueError(f'"{text}" is not a duration above zero; want for example 60s, 1m30s or 500ms')
    return nanoseconds / SECOND


def named_path(_: Any, tokens: Sequence[Token]) -> Path:
    """Reads a path; an empty text, as from a variable that is not set, is none. Raises ValueError, one line."""
    if not tokens[0].value:
        raise ValueError('"" is no path')
    return Path(tokens[0].value)


NamedPath = Annotated[Path, Parameter(converter=named_path)]
ManifestPath = Annotated[
    NamedPath, Parameter(name="PATH", required=True, help="Manifest, directory of manifests, or -.")
]
Output = Annotated[Literal["table", "json"], Parameter(name=["--output", "-o"], help="Format of the output.")]
StateDir = Annotated[
    NamedPath | None,
    Parameter(
        name="--state-dir",
        metavar="DIR",
        help="Directory of the control socket. Default: $XDG_RUNTIME_DIR/probelet, or /tmp/probelet-UID.",
    ),
]
RootDir = Annotated[NamedPath, Parameter(name="--root-dir", metavar="DIR", help="Files of pods on a CRI runtime.")]
Duration = Annotated[
    float | None,
    Parameter(
        name="--duration",
        converter=above_zero,
        # So that a negative duration gets the converter's message.
        allow_leading_hyphen=True,
        metavar="TIME",
        help="End after this long: 60s, 1m30s.",
    ),
]
Runtime = Annotated[
    str, Parameter(metavar="RUNTIME", help='"process" runs programs of this machine; else a CRI socket, unix:///...')
]
Isolate = Annotated[
    Literal["none", "namespace"],
    Parameter(help="namespace: each pod has a network namespace (root; not on a CRI runtime)."),
]
PodArgument = Annotated[str, Parameter(name="POD", help="NAME or NAMESPACE/NAME.")]
ContainerArgument = Annotated[
    str | None, Parameter(name="CONTAINER", help="Only this container. Default: all of the pod.")
]
KubeletVersion = Annotated[
    Literal["1.34", "1.35", "1.36", "1.37", "1.38"],
    Parameter(help="Kubelet release to follow: its rules, gate defaults, User-Agent."),
]
Listen = Annotated[
    str, Parameter(metavar="ADDR", help="HOST:PORT of the HTTP pages, or unix:PATH; port 0: any free port.")
]
AllowRemote = Annotated[
    bool,
    Parameter(negative="", help="Allow --listen an address that other machines reach. The pages need no password."),
]
NodeName = Annotated[
    str | None, Parameter(name="--node-name", metavar="NAME", help="Node name. Default: this host's name.")
]
