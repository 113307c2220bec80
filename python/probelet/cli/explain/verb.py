"""``probelet explain``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from probelet.cli.exit import CliError, Exit
from probelet.cli.options import KubeletVersion, NamedPath, Output
from probelet.cli.terminal import complain, print_json, print_lines
from probelet.cli.verb import verb

if TYPE_CHECKING:
    from probelet.lab.explain import Explained

app = verb(
    "explain",
    "For each probe, from its fields alone: its first attempt; when the container is\n"
    "ready, not ready and killed, at the earliest, typically and at the latest; and\n"
    "what the start-up budget really is. FILE is what 'probelet run' takes, - is\n"
    "standard input. --against shows what another version of the manifests changes.\n"
    "A manifest with a mistake is left out, and the exit code is then 2.",
    "probelet explain examples/web/pod.yaml",
    "probelet explain deployment.yaml --against deployment-new.yaml",
    "probelet explain deployment.yaml -o json | jq .probes",
)


@app.default
def explain(
    *files: Annotated[NamedPath, Parameter(name="FILE", required=True, help="Manifest, directory of manifests, or -.")],
    against: Annotated[
        NamedPath | None, Parameter(name="--against", metavar="FILE", help="Another version of these manifests.")
    ] = None,
    container: Annotated[
        tuple[str, ...],
        Parameter(
            metavar="NAME",
            negative="",
            show_default=False,
            help="Only these containers: NAME or WORKLOAD/NAME. May be given again.",
        ),
    ] = (),
    kubelet_version: KubeletVersion = "1.36",
    output: Output = "table",
) -> int:
    from probelet.cli.explain.against import changes
    from probelet.cli.explain.document import document
    from probelet.cli.explain.words import sentences

    mistakes: list[str] = []
    found = _explained(files, kubelet_version, mistakes)
    other = None if against is None else _explained((against,), kubelet_version, mistakes)
    if container:
        _require(container, [*found, *(other or ())])
        found = _only(found, container)
        other = None if other is None else _only(other, container)
    if output == "json":
        print_json(document(found, other))
    elif other is not None:
        # Beside a version that cannot be read everything would seem to differ.
        if (found and other) or not mistakes:
            print_lines(*changes(found, other))
    elif found or not mistakes:
        print_lines(*sentences(found))
    if mistakes:
        raise CliError(*mistakes)
    return Exit.GOOD


def _explained(files: tuple[Path, ...], release: str, mistakes: list[str]) -> "list[Explained]":
    """The probes of the valid manifests; adds a line for each mistake to ``mistakes`` and writes the warnings."""
    from probelet.lab.explain import explain
    from probelet.spec.read.load import load

    loaded = load(files)
    mistakes.extend(map(str, loaded.errors))
    complain(*(f"probelet explain: {problem}" for problem in loaded.problems if problem.severity == "warning"))
    return explain(loaded.pods, release)


def _require(names: tuple[str, ...], found: "list[Explained]") -> None:
    """Raises CliError, a line for each name that no container with a probe has."""
    known = {name for each in found for name in _names(each)}
    there = ", ".join(dict.fromkeys(f"{each.object.rpartition('/')[2]}/{each.container}" for each in found)) or "none"
    if missing := [name for name in names if name not in known]:
        raise CliError(
            *(f'--container: no container "{name}" has a probe; those with one: {there}' for name in missing)
        )


def _only(found: "list[Explained]", names: tuple[str, ...]) -> "list[Explained]":
    return [each for each in found if not _names(each).isdisjoint(names)]


def _names(each: "Explained") -> set[str]:
    """The names of its container: alone, and behind that of its object."""
    return {each.container, f"{each.object.rpartition('/')[2]}/{each.container}"}
