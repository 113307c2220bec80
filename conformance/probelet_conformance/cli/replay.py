"""``probelet replay``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from probelet.cli.exit import CliError, Exit
from probelet.cli.terminal import print_json, print_lines
from probelet.cli.verb import verb

from probelet_conformance.cli.options import RecordedVersion

if TYPE_CHECKING:
    from probelet_conformance import Recording

SKIPPED = "its probes need sockets, not only virtual time"

app = verb(
    "replay",
    "Exits with 1 if a recording differs, 2 if a file is none; the others still run.",
    "probelet replay tests/kubelet/traces/named/initial_delay_liveness_5.json",
    "probelet replay tests/kubelet/traces/named/*.json",
    "probelet replay recording.json -o json | jq .probes",
)


@app.default
def replay(
    *files: Annotated[Path, Parameter(name="FILE", help="Recordings, or directories with *.json in them.")],
    output: Annotated[
        Literal["text", "json"],
        Parameter(
            name=["--output", "-o"],
            help="json: probelet's own trace, one object per line; `skipped` says why a recording has none.",
        ),
    ] = "text",
    kubelet_version: RecordedVersion = None,
) -> int:
    from probelet_conformance import compare, play
    from probelet_conformance.story import differences_text, story

    recordings, refused = _loaded(_expand(files))
    if not recordings and refused:
        raise CliError(*refused)
    played, equal = 0, 0
    for recording in recordings:
        if recording.uses_sockets:
            name = recording.scenario.name
            if output == "text":
                print_lines(f"skipped    {name}: {SKIPPED}")
            else:
                _print_json({"scenario": name, "skipped": SKIPPED})
            continue
        trace = play(recording, kubelet_version)
        differences = compare(recording, trace)
        played += 1
        equal += not differences
        if output == "json":
            _print_json({"scenario": recording.scenario.name, **trace})
        elif len(recordings) == 1:
            print_lines(story(recording, trace))
        if differences and output == "text":
            print_lines(differences_text(recording, differences))
    if output == "text":
        print_lines(f"{equal} of {played} recordings equal in every section")
    if refused:
        raise CliError(*refused)
    return Exit.GOOD if equal == played else Exit.FAILED


def _expand(files: tuple[Path, ...]) -> list[Path]:
    if not files:
        raise CliError("FILE: nothing to replay", hint="probelet replay --help shows examples")
    found: list[Path] = []
    for path in files:
        found.extend(sorted(path.rglob("*.json")) if path.is_dir() else [path])
    return found


def _loaded(paths: list[Path]) -> tuple[list["Recording"], list[str]]:
    """The playable recordings, and a line for each file that is none."""
    from probelet_conformance import load
    from probelet_conformance.recording import RecordingError

    recordings, refused = [], []
    for path in paths:
        try:
            recordings.append(load(path))
        except RecordingError as error:
            refused.append(str(error))
    return recordings, refused


def _print_json(document: dict[str, object]) -> None:
    import msgspec

    print_json(msgspec.json.encode(document))
