"""The flags of ``probelet lint``."""

from typing import Annotated, Literal, TypeAlias

from cyclopts import Parameter

from probelet.cli.options import NamedPath, above_zero

Paths: TypeAlias = Annotated[
    NamedPath, Parameter(name="PATH", help="Manifest, directory with manifests in and below it, or -.")
]
Format: TypeAlias = Annotated[
    Literal["text", "json", "sarif", "junit", "github"],
    Parameter(name=["--output", "-o"], help="Format of the report; github: annotations of a workflow's log."),
]
Least: TypeAlias = Annotated[
    Literal["error", "warning", "info"] | None,
    Parameter(
        name="--severity",
        help="Report only findings at least so severe, and fail if there is one. Default: report all, fail on errors.",
    ),
]
ConfigFile: TypeAlias = Annotated[
    NamedPath | None,
    Parameter(name="--config", metavar="FILE", help="Default: probelet-lint.yaml of this directory, if it is there."),
]
Baseline: TypeAlias = Annotated[
    NamedPath | None, Parameter(name="--baseline", metavar="FILE", help="Leave out the findings that this file has.")
]
WriteBaseline: TypeAlias = Annotated[
    NamedPath | None,
    Parameter(name="--write-baseline", metavar="FILE", help="Write the findings of today for --baseline, and succeed."),
]
Prove: TypeAlias = Annotated[
    str | None,
    Parameter(
        name="--prove",
        metavar="RULE@OBJECT",
        help="Play the scenario of this finding: PL203@web, PL203@Deployment/web.",
    ),
]
Picture: TypeAlias = Annotated[
    NamedPath | None,
    Parameter(name="--picture", metavar="FILE", help="With --prove: write the picture, .html or .svg."),
]
Observed: TypeAlias = Annotated[
    tuple[NamedPath, ...],
    Parameter(
        name="--observed",
        metavar="PATH",
        help="What was seen of the pods: JSON of 'probelet status' or of a query of Prometheus, or a flight recording. "
        "May be repeated.",
    ),
]
Together: TypeAlias = Annotated[
    bool,
    Parameter(negative="", help="See the objects of all paths together. Default: those of one directory."),
]
RequireWorkloads: TypeAlias = Annotated[
    bool,
    Parameter(
        name="--require-workloads",
        negative="",
        help="Fail with exit code 2 if there is no workload, as when the program before a pipe wrote nothing.",
    ),
]
Apply: TypeAlias = Annotated[
    bool, Parameter(name="--fix", negative="", help="Change the files where a fix is safe, then report the rest.")
]
Diff: TypeAlias = Annotated[
    bool, Parameter(name="--diff", negative="", help="Show what --fix would change, and change nothing.")
]
ShowRule: TypeAlias = Annotated[
    str | None, Parameter(name="--explain", metavar="RULE", help="Explain a rule, such as PL203, and end.")
]
ListRules: TypeAlias = Annotated[bool, Parameter(name="--rules", negative="", help="List the rules, and end.")]


def _seconds(name: str, text: str) -> Parameter:
    return Parameter(name=name, converter=above_zero, allow_leading_hyphen=True, metavar="TIME", help=text)


ClientTimeout: TypeAlias = Annotated[
    float | None, _seconds("--client-timeout", "How long clients wait: 5s. Default: what routes in the manifests say.")
]
DependencyMax: TypeAlias = Annotated[
    float | None, _seconds("--dependency-max", "The longest time in which a dependency answers: 2s.")
]
StartupP99: TypeAlias = Annotated[
    float | None, _seconds("--startup-p99", "How long the slowest starts take: 45s; an annotation is stronger.")
]
PodsPerNode: TypeAlias = Annotated[
    int | None, Parameter(name="--pods-per-node", metavar="N", help="How many pods like these a node has.")
]
