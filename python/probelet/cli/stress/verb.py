"""``probelet stress``."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from probelet.cli.backoff.flags import Count, Window, span
from probelet.cli.exit import CliError, Exit
from probelet.cli.options import NamedPath, Output
from probelet.cli.terminal import complain, print_json, print_lines
from probelet.cli.verb import verb

if TYPE_CHECKING:
    from probelet.lab.stress.outcome import Outcome
    from probelet.lab.stress.scene import Scene

_S = 1_000_000_000

app = verb(
    "stress",
    "Without --real, time is virtual: hours take seconds, every restart is compared\n"
    "with the model, and a scene ends after 20,000 restarts. With --real, each scene\n"
    "runs on the embedded runtime, in its own process. Repeated flags make one scene\n"
    "of each combination; --matrix has its own list. Exits with 1 if a restart was\n"
    "early or differs from the model.",
    "probelet stress",
    "probelet stress --curve 10/300 --curve 1/60 --api-qps 5 --duration 1h",
    "probelet stress --real --duration 60s --start-cost 50ms -o json",
    "probelet stress --real --pods 110 --spread 60s --duration 5m --warm-up 60s",
    "probelet stress --matrix --report build/stress",
)


def _spans(metavar: str, help_: str) -> Any:
    return Parameter(converter=_each_span, allow_leading_hyphen=True, metavar=metavar, show_default=False, help=help_)


def _span(help_: str) -> Any:
    return Parameter(converter=span, allow_leading_hyphen=True, metavar="TIME", show_default=False, help=help_)


def _each_span(_: Any, tokens: Any) -> list[int]:
    return [span(None, [token]) for token in tokens]


@app.default
def stress(
    *,
    curve: Annotated[list[str] | None, Parameter(metavar="CURVE", help="Back-off, INITIAL/MAX. Default: 1/60.")] = None,
    pods: Annotated[list[int] | None, Parameter(metavar="N", help="Number of pods. Default: 110, a full node.")] = None,
    containers: Annotated[
        list[int] | None, Parameter(metavar="N", help="Per pod: 1, or 3 (two that crash and a sidecar). Default: 1.")
    ] = None,
    failing: Annotated[
        list[float] | None,
        Parameter(metavar="SHARE", help="Share of pods that exit with 1, the rest with 0. Default: 1."),
    ] = None,
    run: Annotated[list[int] | None, _spans("TIME", "Length of each run. Default: 0s.")] = None,
    kill: Annotated[
        list[int] | None, _spans("TIME", "Instead of --run: a probe fails this long after each start.")
    ] = None,
    policy: Annotated[
        list[Literal["Always", "OnFailure", "Sidecar"]] | None, Parameter(help="Restart policy. Default: Always.")
    ] = None,
    start_cost: Annotated[
        list[int] | None, _spans("TIME", "Extra time of each start, as with plug-ins. Default: 0s.")
    ] = None,
    api_qps: Annotated[
        list[int] | None, Parameter(metavar="N", help="Limit of status writes per second; 0: none. Default: 0.")
    ] = None,
    spread: Annotated[int, _span("Spread the first starts over this time.")] = 0,
    matrix: Annotated[bool, Parameter(help="Run four curves, and vary each axis alone.")] = False,
    real: Annotated[bool, Parameter(help="Use real processes and the real clock.")] = False,
    duration: Annotated[Window | None, Parameter(help="Length of a scene. Default: 30m; with --real 60s.")] = None,
    warm_up: Annotated[int, _span("With --real: time before counting begins.")] = 0,
    repeat: Annotated[Count, Parameter(help="With --real: number of runs; prints their median.")] = 1,
    report: Annotated[NamedPath | None, Parameter(metavar="DIR", help="Directory for a page with charts.")] = None,
    output: Output = "table",
) -> int:
    from probelet.cli.stress.scenes import SceneFlags, matrix_scenes, scenes

    flags = SceneFlags(
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
    wanted = matrix_scenes(flags, spread) if matrix else scenes(flags, spread)
    seconds = (duration or (60 * _S if real else 1800 * _S)) / _S
    if not real and (warm_up or repeat > 1):
        raise CliError("--warm-up and --repeat need --real: in virtual time every run is the same")
    if warm_up >= seconds * _S:
        raise CliError("--warm-up: must be shorter than --duration")
    if report is not None:
        # Scenes may take an hour, so an unwritable report must be an error before they start.
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

    from probelet.lab.stress.play import StressError, play_real, play_virtual

    for number, scene in enumerate(wanted, start=1):
        if sys.stderr.isatty():
            complain(f"{number} of {len(wanted)}: {scene.name}")
        try:
            yield play_real(scene, seconds, warm_up, repeat) if real else play_virtual(scene, seconds)
        except StressError as error:
            raise CliError(str(error), code=Exit.CANNOT) from error


def _show(outcomes: "list[Outcome]", folder: Path | None, output: str) -> int:

    import msgspec

    from probelet.cli.stress.table import table
    from probelet.lab.stress.play import failures, machine
    from probelet.lab.stress.report import Document, write

    document = Document(machine=machine(), outcomes=outcomes)
    if output == "json":
        print_json(msgspec.json.encode(document))
    else:
        print_lines(*table(outcomes))
    if folder is not None:
        with _report_errors(folder):
            written = write(document, folder)
        if output == "table":
            print_lines(f"\nwritten: {written[0]}")
    wrong = failures(outcomes)
    for line in wrong:
        complain(f"probelet stress: {line}")
    return Exit.FAILED if wrong else Exit.GOOD
