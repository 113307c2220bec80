"""``probelet conformance``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from probelet.cli.exit import CliError, Exit
from probelet.cli.options import KubeletVersion, Output
from probelet.cli.verb import verb

if TYPE_CHECKING:
    from probelet.replay.conformance import Finding

app = verb(
    "conformance",
    "Recordings of the prober are played in virtual time; those with kills twice: fed\n"
    "with the recorded inputs, and with probelet's own decisions. Cases of its\n"
    "handlers are played on real sockets, against a scripted server. Exits with 1 if\n"
    "one differs that is not listed in docs/kubelet-parity.md, with 2 if a file is no\n"
    "recording; the others are played.",
    "probelet conformance tests/kubelet/traces",
    "probelet conformance tests/handlers/recorded",
    "probelet conformance tests/kubelet/traces -o json | jq '.different[].name'",
)


@app.default
def conformance(
    folder: Annotated[Path, Parameter(name="DIR", help="A folder with recordings in it, at any depth.")],
    /,
    *,
    output: Output = "table",
    kubelet_version: KubeletVersion = "1.36",
) -> int:
    import msgspec

    from probelet.replay.conformance import conformance as examine

    if not folder.is_dir():
        raise CliError(f"DIR: {folder}: not a directory")
    try:
        report = examine(folder, kubelet_version)
    except OSError as error:
        raise CliError(f"what the recordings probe cannot be served: {error}", code=Exit.CANNOT) from error
    if report.total == 0 and not report.refused:
        raise CliError(f"DIR: {folder}: no recording in it")
    if output == "json":
        print(msgspec.json.encode(report).decode())
    else:
        for finding in report.different:
            _print_finding(finding)
        for known in report.known:
            print(f"known      {known.name}: {known.section}: {known.reason}")
        print(f"{report.equal} of {report.total} recordings equal")
    if report.refused:
        raise CliError(*report.refused)
    return Exit.FAILED if report.different else Exit.GOOD


def _print_finding(finding: "Finding") -> None:
    import msgspec

    def text(line: object) -> str:
        return "(no such line)" if line is None else msgspec.json.encode(line, order="sorted").decode()

    print(f"different  {finding.name}: {finding.section}")
    print(f"    kubelet   {text(finding.expected)}")
    print(f"    probelet  {text(finding.got)}")
