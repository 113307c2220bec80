"""``probelet whatif``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from probelet.cli.exit import CliError, Exit
from probelet.cli.options import NamedPath, Output
from probelet.cli.terminal import complain, print_json, print_lines
from probelet.cli.verb import verb

if TYPE_CHECKING:
    from probelet.lab.recording import Recording
    from probelet.lab.whatif import Holding
    from probelet.lab.whatif.changes import Changes
    from probelet.spec.annotation.hold_kills import HoldChoice
    from probelet.spec.read.load import Manifest

app = verb(
    "whatif",
    "Plays what a flight recorder wrote (flightRecorder in the configuration) through\n"
    "the same prober with other settings: which restarts would not have happened,\n"
    "which times not ready would have been noticed earlier or later. RECORDING is a\n"
    "state directory, its directory flight-recorder, or one of its segments. What\n"
    "nobody knows is unknown here too; --assume takes one of the two ways. Without\n"
    "--set and --change all is played as it was, and the exit code is 1 if that does\n"
    "not give what happened.",
    "probelet whatif flight-recorder --set liveness.failureThreshold=5",
    "probelet whatif flight-recorder --set 'web-*/app.readiness.timeoutSeconds=3'",
    "probelet whatif flight-recorder --change web-new.yaml --since 1h -o json",
    "probelet whatif flight-recorder --hold-kills shared --change deploy/",
)


@app.default
def whatif(
    recording: Annotated[
        NamedPath,
        Parameter(name="RECORDING", required=True, help="State directory, or directory or file of a recording."),
    ],
    *,
    set_: Annotated[
        tuple[str, ...],
        Parameter(
            name="--set",
            metavar="SETTING",
            negative="",
            show_default=False,
            help="TYPE.FIELD=NUMBER for all probes of a type, or [NAMESPACE/]POD/CONTAINER.TYPE.FIELD=NUMBER. "
            "Names may have * and ?. May be given again.",
        ),
    ] = (),
    change: Annotated[
        tuple[NamedPath, ...],
        Parameter(
            metavar="FILE", negative="", show_default=False, help="Manifests with other probes. May be given again."
        ),
    ] = (),
    hold_kills: Annotated[
        Literal["prober", "shared"] | None,
        Parameter(
            help="Which liveness kills wait for the end of an incident (holdKills in the configuration). Files of "
            "--change say the workloads and what probes ask, which a recording does not."
        ),
    ] = None,
    hold_kills_for: Annotated[
        str | None, Parameter(metavar="TIME", help="How long a kill waits at most: 90s, 5m. Default: 5m.")
    ] = None,
    assume: Annotated[
        Literal["healthy", "failing"] | None,
        Parameter(help="How containers answer where nobody knows. Default: both, and what differs is unknown."),
    ] = None,
    since: Annotated[
        str | None,
        Parameter(
            metavar="TIME",
            allow_leading_hyphen=True,
            help="Only what happened from here on: RFC 3339, or 1h: so long before the end.",
        ),
    ] = None,
    until: Annotated[str | None, Parameter(metavar="TIME", help="Only what happened before this.")] = None,
    output: Output = "table",
) -> int:
    import msgspec

    from probelet.cli.whatif.window import window
    from probelet.cli.whatif.words import lines
    from probelet.errors import RecordingError
    from probelet.lab.whatif import SettingError
    from probelet.lab.whatif import whatif as play

    try:
        found = _recording(recording)
        manifests = _manifests(change)
        holding = _holding(hold_kills, hold_kills_for, manifests)
        changes, has_changes = _changes(found, set_, manifests, is_held=holding is not None)
    except (RecordingError, SettingError) as error:
        raise CliError(str(error)) from error
    document = play(found, changes, assume=assume, window=window(found, since, until), holding=holding)
    if output == "json":
        print_json(msgspec.json.encode(document))
    else:
        print_lines(*lines(document))
    return Exit.GOOD if has_changes or document["check"]["reproduced"] else Exit.FAILED


def within(path: Path) -> Path:
    """The recording of a state directory; another path as it is."""
    from probelet.daemon.engine import RECORDER

    return path / RECORDER if (path / RECORDER).is_dir() else path


def _recording(path: Path) -> "Recording":
    from probelet.lab.recording import Recording

    found = Recording(within(path))
    if not found.stretches:
        raise CliError(f"{path}: nothing is recorded in it")
    return found


def _manifests(files: tuple[Path, ...]) -> "list[Manifest]":
    from probelet.spec.read.load import load

    if not files:
        return []
    loaded = load(files)
    complain(*(f"probelet whatif: {problem}" for problem in loaded.problems if problem.severity == "warning"))
    if loaded.errors:
        raise CliError(*map(str, loaded.errors))
    return loaded.pods


def _holding(choice: "HoldChoice | None", most: str | None, manifests: "list[Manifest]") -> "Holding | None":
    """Which kills wait; None if none do."""
    from probelet.daemon.asked_hosts import asked_hosts
    from probelet.lab.whatif import Holding
    from probelet.policy.node.kill_gate import HOLD_MOST_NS, HoldOptions
    from probelet.spec.text.duration import DurationError, parse_duration

    if choice is None:
        if most is not None:
            raise CliError(f"--hold-kills-for {most}: needs --hold-kills")
        return None
    try:
        most_ns = HOLD_MOST_NS if most is None else parse_duration(most)
    except DurationError as error:
        raise CliError(f"--hold-kills-for: {error}") from error
    if most_ns <= 0:
        raise CliError(f"--hold-kills-for {most}: must be above 0")
    return Holding(HoldOptions(choice, most_ns), manifests, asked_hosts)


def _changes(
    recording: "Recording", settings: tuple[str, ...], manifests: "list[Manifest]", *, is_held: bool
) -> "tuple[Changes, bool]":
    """The changes, and whether the user wants any; without, every pod is played as it was."""
    from probelet.lab.whatif import changes_of_manifests, settings_of
    from probelet.lab.whatif.changes import unchanged

    if not settings and not manifests:
        return unchanged(recording), is_held
    changes = changes_of_manifests(recording, manifests) if manifests else {}
    changes = settings_of(recording, settings, changes)
    if not changes and not is_held:
        complain("probelet whatif: warning: no probe of the recording changes; everything is played as it was")
        changes = unchanged(recording)
    return changes, True
