"""``probelet conformance``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from probelet.cli.exit import CliError, Exit
from probelet.cli.options import Output
from probelet.cli.terminal import print_json, print_lines
from probelet.cli.verb import verb

from probelet_conformance.cli.options import RecordedVersion

if TYPE_CHECKING:
    from probelet_conformance.conformance import Finding

app = verb(
    "conformance",
    "Plays recordings of the kubelet's prober in virtual time. Recordings with kills\n"
    "run twice: with the recorded inputs, and with probelet's own decisions. Cases of\n"
    "handlers run on real sockets, against a scripted server. Exits with 1 if a\n"
    "recording differs in a way that docs/kubelet-parity.md does not list, and with\n"
    "2 if a file is no recording; the other files still run.",
    "probelet conformance tests/kubelet/traces",
    "probelet conformance tests/handlers/recorded",
    "probelet conformance tests/kubelet/traces -o json | jq '.different[].name'",
)


@app.default
def conformance(
    folder: Annotated[Path, Parameter(name="DIR", help="Folder with recordings, at any depth.")],
    /,
    *,
    output: Output = "table",
    kubelet_version: RecordedVersion = None,
) -> int:
    import msgspec

    from probelet_conformance.conformance import conformance as examine

    if not folder.is_dir():
        raise CliError(f"DIR: {folder}: not a directory")
    try:
        report = examine(folder, kubelet_version)
    except OSError as error:
        raise CliError(f"cannot serve the targets of the recordings: {error}", code=Exit.CANNOT) from error
    if report.total == 0 and not report.refused:
        raise CliError(f"DIR: {folder}: no recording in it")
    if output == "json":
        print_json(msgspec.json.encode(report))
    else:
        for finding in report.different:
            _print_finding(finding)
        for known in report.known:
            print_lines(f"known      {known.name}: {known.section}: {known.reason}")
        print_lines(f"{report.equal} of {report.total} recordings equal")
    if report.refused:
        raise CliError(*report.refused)
    return Exit.FAILED if report.different else Exit.GOOD


def _print_finding(finding: "Finding") -> None:
    import msgspec

    def text(line: object) -> str:
        return "(no such line)" if line is None else msgspec.json.encode(line, order="sorted").decode()

    print_lines(f"different  {finding.name}: {finding.section}")
    print_lines(f"    kubelet   {text(finding.expected)}")
    print_lines(f"    probelet  {text(finding.got)}")
