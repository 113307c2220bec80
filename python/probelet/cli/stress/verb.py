"""``probelet stress``."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from probelet.cli.backoff.flags import Count, Window, span
from probelet.cli.exit import CliError, Exit
from probelet.cli.options import Output
from probelet.cli.verb import verb

if TYPE_CHECKING:
    from probelet.stress.outcome import Outcome
    from probelet.stress.scene import Scene

_S = 1_000_000_000

app = verb(
    "stress",
    "Without --real time is virtual: hours take seconds, every restart is compared\n"
    "with the model, and a scene with more than 20,000 restarts is cut short. With\n"
    "--real each scene runs on the embedded runtime, in a process of its own.\n"
    "Flags that may be repeated make a scene of each combination; --matrix plays a\n"
    "list of its own. Exit 1 if a restart was early, or not the model's.",
    "probelet stress",
    "probelet stress --curve 10/300 --curve 1/60 --api-qps 5 --duration 1h",
    "probelet stress --real --duration 60s --start-cost 50ms -o json",
    "probelet stress --real --pods 110 --spread 60s --duration 5m --warm-up 60s",
    "probelet stress --matrix --report build/stress",
)


def _spans(metavar: str, help_: str) -> Any:
    return Parameter(converter=_each_span, metavar=metavar, show_default=False, help=help_)


def _each_span(_: Any, tokens: Any) -> list[int]:
    return [span(None, [token]) for token in tokens]


@app.default
def stress(
    *,
    curve: Annotated[list[str] | None, Parameter(metavar="CURVE", help="INITIAL/MAX. Default: 1/60.")] = None,
    pods: Annotated[list[int] | None, Parameter(metavar="N", help="Default: 110, which fill a node.")] = None,
    containers: Annotated[
        list[int] | None, Parameter(metavar="N", help="1, or 3: two that crash and a sidecar. Default: 1.")
    ] = None,
    failing: Annotated[
        list[float] | None, Parameter(metavar="SHARE", help="Of the pods; the others exit with 0. Default: 1.")
    ] = None,
    run: Annotated[list[int] | None, _spans("TIME", "How long a container runs. Default: 0s.")] = None,
    kill: Annotated[list[int] | None, _spans("TIME", "A probe fails so long after each start, instead.")] = None,
    policy: Annotated[
        list[Literal["Always", "OnFailure", "Sidecar"]] | None, Parameter(help="Default: Always.")
    ] = None,
    start_cost: Annotated[
        list[int] | None, _spans("TIME", "What each start takes longer, as with plug-ins. Default: 0s.")
    ] = None,
    api_qps: Annotated[
        list[int] | None, Parameter(metavar="N", help="Status writes a second; 0 for no limit. Default: 0.")
    ] = None,
    spread: Annotated[
        int, Parameter(converter=span, metavar="TIME", show_default=False, help="First starts over this.")
    ] = 0,
    matrix: Annotated[bool, Parameter(help="Four curves, and each axis varied by itself.")] = False,
    real: Annotated[bool, Parameter(help="Real processes and the real clock.")] = False,
    duration: Annotated[Window | None, Parameter(help="Of each scene. Default: 30m, with --real 60s.")] = None,
    warm_up: Annotated[
        int, Parameter(converter=span, metavar="TIME", show_default=False, help="Not counted; for --real.")
    ] = 0,
    repeat: Annotated[Count, Parameter(help="With --real: the median of so many runs.")] = 1,
    report: Annotated[Path | None, Parameter(metavar="DIR", help="Write a page with charts there.")] = None,
    output: Output = "table",
) -> int:
    from probelet.cli.stress.scenes import Wishes, matrix_scenes, scenes

    wishes = Wishes(
        curve=curve,
        pods=pods,
        containers=containers,
        failing=failing,
        run_ns=run,
        kill_ns=kill,
        policy=list(policy) if policy else None,
        start_cost_ns=start_cost,
        api_qps=api_qps,
    )
    wanted = matrix_scenes(wishes, spread) if matrix else scenes(wishes, spread)
    seconds = (duration or (60 * _S if real else 1800 * _S)) / _S
    if not real and (warm_up or repeat > 1):
        raise CliError("--warm-up and --repeat are for --real: in virtual time every run is the same")
    if warm_up >= seconds * _S:
        raise CliError("--warm-up: must be shorter than --duration")
    if report is not None:
        # A scene may take an hour: that its report cannot be written is said before it.
        with _report_errors(report):
            report.mkdir(parents=True, exist_ok=True)
    outcomes = list(_play(wanted, real, seconds, warm_up / _S, repeat))
    return _show(outcomes, report, output)


@contextmanager
def _report_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CliError(f"--report: {folder}: {error.strerror}") from error


def _play(wanted: "list[Scene]", real: bool, seconds: float, warm_up: float, repeat: int) -> "Iterator[Outcome]":
    import sys

    from probelet.stress.play import StressError, play_real, play_virtual

    for place, scene in enumerate(wanted, start=1):
        if sys.stderr.isatty():
            print(f"{place} of {len(wanted)}: {scene.name}", file=sys.stderr)
        try:
            yield play_real(scene, seconds, warm_up, repeat) if real else play_virtual(scene, seconds)
        except StressError as error:
            raise CliError(str(error), code=Exit.CANNOT) from error


def _show(outcomes: "list[Outcome]", folder: Path | None, output: str) -> int:
    import sys

    import msgspec

    from probelet.cli.stress.table import table
    from probelet.stress.play import failures, machine
    from probelet.stress.report import Document, write

    document = Document(machine=machine(), outcomes=outcomes)
    if output == "json":
        print(msgspec.json.encode(document).decode())
    else:
        print(*table(outcomes), sep="\n")
    if folder is not None:
        with _report_errors(folder):
            written = write(document, folder)
        if output == "table":
            print(f"\nwritten: {written[0]}")
    wrong = failures(outcomes)
    for line in wrong:
        print(f"probelet stress: {line}", file=sys.stderr)
    return Exit.FAILED if wrong else Exit.GOOD
