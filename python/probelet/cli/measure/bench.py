"""``probelet bench``."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter, Token

from probelet.cli.exit import CliError, Exit
from probelet.cli.options import Output, above_zero
from probelet.cli.terminal import complain, print_json, print_lines
from probelet.cli.verb import verb

if TYPE_CHECKING:
    from probelet.lab.bench.load import Load

app = verb(
    "bench",
    "Creates pods with one container and one readiness probe each. The engine of\n"
    "'probelet run' probes them in this process, so that the measured CPU is the\n"
    "prober's alone. Without --target, a target in its own process answers: the\n"
    "program probelet-target, which 'make build' in a checkout makes; the wheel\n"
    "does not have it. Exec attempts succeed at once: the measurement covers the\n"
    "way to the runtime.",
    "probelet bench http",
    "probelet bench grpc --workers 5000 --duration 30s",
    "probelet bench tcp --workers 200 --target 10.0.0.7:5432 -o json",
    "probelet bench http --workers 100000 --period 10s --warm 15s",
)


def _whole_seconds(kind: Any, tokens: Sequence[Token]) -> int:
    seconds = above_zero(kind, tokens)
    if seconds != int(seconds):
        raise ValueError(f'"{tokens[0].value}" is not a whole number of seconds, as periodSeconds is; want 1s or more')
    return int(seconds)


def _slack(kind: Any, tokens: Sequence[Token]) -> float:
    from probelet.config.validate import WAKE_SLACK_MAX
    from probelet.spec.text.duration import SECOND, format_duration

    seconds = above_zero(kind, tokens)
    if seconds > WAKE_SLACK_MAX / SECOND:
        raise ValueError(f'"{tokens[0].value}" is too long; want at most {format_duration(WAKE_SLACK_MAX)}')
    return seconds


def _as_time(seconds: float) -> str:
    return f"{seconds:g}s"


def _count(_: Any, tokens: Sequence[Token]) -> int:
    from probelet.lab.bench.load import WORKERS_MAX

    text = tokens[0].value
    if not text.isascii() or not text.isdecimal() or int(text[:9]) > WORKERS_MAX:
        raise ValueError(f'"{text}" is not a number from 0 to {WORKERS_MAX}')
    return int(text)


Span = Annotated[
    float, Parameter(converter=above_zero, allow_leading_hyphen=True, metavar="TIME", show_default=_as_time)
]
WholeSeconds = Annotated[
    int, Parameter(converter=_whole_seconds, allow_leading_hyphen=True, metavar="TIME", show_default=_as_time)
]


@app.default
def bench(
    handler: Annotated[
        Literal["http", "https", "tcp", "grpc", "exec"], Parameter(name="HANDLER", help="Kind of probe.")
    ],
    /,
    *,
    workers: Annotated[
        int, Parameter(converter=_count, metavar="N", help="Number of pods, each with one probe.")
    ] = 1000,
    period: Annotated[WholeSeconds, Parameter(help="periodSeconds.")] = 1,
    duration: Annotated[Span, Parameter(help="Length of the measured time.")] = 10.0,
    warm: Annotated[Span, Parameter(help="Time before the measured time; a period or more.")] = 2.0,
    target: Annotated[
        str | None,
        Parameter(
            metavar="HOST:PORT", help="IPv4 address to probe; ADDRESS/BITS: one per pod. Default: an own target."
        ),
    ] = None,
    faulty: Annotated[
        str | None,
        Parameter(metavar="HOST:PORT=N", help="N percent of the pods probe this address; their failures are expected."),
    ] = None,
    burst: Annotated[
        bool, Parameter(help="Probe all pods at the same moment instead of spread over the period.")
    ] = False,
    churn: Annotated[
        int, Parameter(converter=_count, metavar="N", help="Extra pods added and removed each second.")
    ] = 0,
    restarts: Annotated[int, Parameter(converter=_count, metavar="N", help="Containers that restart each second.")] = 0,
    phase: Annotated[
        Literal["kubelet", "spread"], Parameter(help="Times of the probes; spread separates even a burst.")
    ] = "kubelet",
    wake_slack: Annotated[
        float,
        Parameter(
            converter=_slack,
            allow_leading_hyphen=True,
            metavar="TIME",
            show_default=_as_time,
            help="How late a probe may be to share a wake-up, at most 100ms.",
        ),
    ] = 0.0,
    output: Output = "table",
) -> int:
    from probelet.lab.bench.load import Load
    from probelet.lab.bench.place import Faulty, PlaceError

    if workers == 0:
        raise CliError("--workers: must be above 0")
    if handler == "exec" and (target or faulty):
        raise CliError("--target and --faulty do not apply to exec: its attempts succeed at once in this process")
    try:
        wrong = Faulty.parse(faulty) if faulty else None
    except PlaceError as error:
        raise CliError(f"--faulty: {error}") from None
    load = Load(handler, workers, period, duration, warm, wrong, burst, churn, restarts, phase, wake_slack)
    _measure(load, target, output)
    return Exit.GOOD


def _measure(load: "Load", target: str | None, output: str) -> None:
    from probelet.base import open_files
    from probelet.lab.bench.document import report
    from probelet.lab.bench.measure import measure
    from probelet.lab.bench.place import Place, PlaceError
    from probelet.lab.bench.target import TargetError, own_target

    # Each probe in flight needs a socket, and 20,000 hanging probes a second many.
    open_files.raise_limit()
    where = f"target {target}"
    try:
        if load.handler == "exec" or target is not None:
            place = Place.parse(target) if target is not None else Place.parse("127.0.0.1:1")
            where = where if target is not None else "no target"
            seen = measure(load, place, _say)
        else:
            with own_target(load.handler, load.period) as own:
                seen = measure(load, own.place, _say, own)
                where = "its own target"
    except PlaceError as error:
        raise CliError(f"--target: {error}") from None
    except (TargetError, OSError) as error:
        raise CliError(str(error), code=Exit.CANNOT) from error
    if output == "json":
        print_json(json.dumps(seen).encode())
    else:
        print_lines(*report(seen, where))


def _say(text: str) -> None:
    complain(f"probelet bench: {text}")
