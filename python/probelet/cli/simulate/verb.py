"""``probelet simulate``."""

from typing import Annotated, Any

from cyclopts import Parameter

from probelet.cli.exit import CliError, Exit
from probelet.cli.options import Duration, KubeletVersion, NamedPath, Output
from probelet.cli.terminal import print_json, print_lines
from probelet.cli.verb import verb

app = verb(
    "simulate",
    "Play manifests through a scenario in virtual time: when replicas are unready or\n"
    "killed, how many requests are lost, whether it recovers, and what to change; a\n"
    "change is played too. --scenario is one of --list or a file; without it, each of\n"
    "--list is played and has one line. The prober and the restarts are those of\n"
    "'probelet run'; containers, traffic and faults are those of the scenario.",
    "probelet simulate examples/lab/server-with-dependencies.yaml",
    "probelet simulate deployment.yaml --scenario overload --html overload.html",
    "probelet simulate deployment.yaml --scenario mine.yaml --against new.yaml",
    "probelet simulate deployment.yaml --scenario mine.yaml --guard",
    "probelet simulate --show overload > mine.yaml",
)


def _file(help_: str) -> Any:
    return Parameter(metavar="FILE", help=help_)


@app.default
def simulate(
    *files: Annotated[NamedPath, Parameter(name="FILE", help="Manifest, directory of manifests, or -.")],
    scenario: Annotated[
        str | None,
        Parameter(name="--scenario", metavar="SCENARIO", help="A built-in of --list, or a file of kind Scenario."),
    ] = None,
    against: Annotated[
        list[NamedPath] | None,
        Parameter(name="--against", metavar="FILE", help="Another version of these manifests. May be repeated."),
    ] = None,
    guard: Annotated[
        bool,
        Parameter(
            name="--guard", negative="", help="Play it beside with enhanced liveness, as 'probelet controller' decides."
        ),
    ] = False,
    guard_settings: Annotated[
        NamedPath | None,
        Parameter(name="--guard-settings", metavar="FILE", help="The controller's ConfigMap. Default: its defaults."),
    ] = None,
    seed: Annotated[int, Parameter(metavar="N", help="Seed of all randomness.")] = 1,
    duration: Annotated[Duration, Parameter(help="Length of traffic and faults. Default: the scenario's.")] = None,
    no_advice: Annotated[bool, Parameter(help="Play no changes that may help.")] = False,
    output: Output = "table",
    html: Annotated[NamedPath | None, _file("Write the picture as an HTML page.")] = None,
    svg: Annotated[NamedPath | None, _file("Write the picture as SVG.")] = None,
    perfetto: Annotated[NamedPath | None, _file("Write a trace for ui.perfetto.dev.")] = None,
    kubelet_version: KubeletVersion = "1.36",
    list_: Annotated[bool, Parameter(name="--list", help="List the built-in scenarios.")] = False,
    show: Annotated[str | None, Parameter(metavar="NAME", help="Print a built-in scenario, to start from.")] = None,
    schema: Annotated[bool, Parameter(help="Print the JSON schema of a scenario file.")] = False,
) -> int:
    import msgspec

    from probelet.cli.simulate.pictures import Pictures
    from probelet.cli.simulate.request import Request, played
    from probelet.cli.simulate.scenarios import print_list, print_scenario, print_schema
    from probelet.cli.simulate.table import table
    from probelet.cli.simulate.text import lines

    if list_:
        return print_list(output)
    if show is not None:
        return print_scenario(show)
    if schema:
        return print_schema()
    if not files:
        raise CliError("no manifest: FILE is required", hint="probelet simulate --help")
    if guard and against:
        raise CliError("--guard plays the same manifests a second time, --against plays others: only one of them")
    if guard_settings is not None and not guard:
        raise CliError("--guard-settings needs --guard")
    others = tuple(against or ())
    request = Request(files, others, seed, duration, kubelet_version, not no_advice, guard, guard_settings)
    pictures = Pictures(html, svg, perfetto)
    if scenario is None:
        if output == "json" or pictures.wanted or against or guard:
            raise CliError("-o json, --against, --guard and pictures need --scenario", hint="probelet simulate --list")
        print_lines(*table(request))
        return Exit.GOOD
    pictures.check()
    document = played(request, scenario)
    if output == "json":
        print_json(msgspec.json.encode(document))
    else:
        print_lines(*lines(document))
    pictures.write(document)
    return Exit.GOOD
