"""``--prove``: a finding, and what it does in the simulator."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from probelet.cli.exit import CliError
from probelet.cli.lint.request import Request
from probelet.cli.simulate.pictures import Pictures
from probelet.cli.simulate.text import lines
from probelet.lab.simulate import play
from probelet.lint.engine import objects_of
from probelet.lint.finding import Finding
from probelet.lint.registry import rules
from probelet.spec.read.load import STDIN

SUFFIXES: Final = (".html", ".svg")


def proof(request: Request, wanted: str, picture: Path | None) -> Iterator[str]:
    """The lines about a finding, ``RULE@OBJECT``: its message, and the scenario of its rule played with its object.

    Raises CliError if there is no such finding, or no scenario.
    """
    if picture is not None and picture.suffix not in SUFFIXES:
        raise CliError(f"--picture: {picture} has to end in {' or '.join(SUFFIXES)}")
    pictures = Pictures(
        picture if picture is not None and picture.suffix == ".html" else None,
        picture if picture is not None and picture.suffix == ".svg" else None,
        None,
    )
    pictures.check()
    if STDIN in request.paths:
        raise CliError("--prove: standard input can be read only once; write it to a file")
    finding = _finding(request, wanted)
    rule = rules()[finding.rule]
    if not rule.scenario:
        raise CliError(
            f"--prove: {rule.id} has no scenario, because no behaviour of a service makes it worse or better"
        )
    objects = objects_of(request.paths, finding.object, together=request.together)
    files = " ".join(shlex.quote(str(path)) for path in request.paths)
    document = play(
        objects,
        rule.scenario,
        kubelet_version=request.settings.kubelet_version,
        advise=False,
        command=f"probelet lint {files} --prove {shlex.quote(wanted)}",
    )
    pictures.write(document)
    yield f"{rule.id} {rule.name}: {finding.file}:{finding.line}:{finding.column}"
    yield from (f"{finding.object}: {finding.message}", "")
    yield from lines(document)


def _finding(request: Request, wanted: str) -> Finding:
    name, at, owner = wanted.partition("@")
    findings = [found for found in request.report().findings if found.rule == name.upper()]
    owners = sorted({found.object for found in findings if found.object})
    chosen = [found for found in findings if not at or _names(owner, found.object)]
    if name.upper() not in rules():
        raise CliError(f'--prove: there is no rule "{name}"', hint="probelet lint --rules")
    if not chosen or not chosen[0].object:
        where = f"; it is found in {', '.join(owners)}" if owners else ""
        raise CliError(f"--prove: no finding {wanted} in these manifests{where}")
    return chosen[0]


def _names(owner: str, label: str) -> bool:
    """True if ``owner`` is the label, or ``Kind/name``, or the name."""
    kind, _, name = label.split("/", 2)
    return owner in (label, f"{kind}/{name}", name)
