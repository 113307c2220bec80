"""``probelet lint``."""

import gc
from typing import TYPE_CHECKING

from probelet.cli.exit import CliError, Exit
from probelet.cli.lint.flags import (
    Apply,
    Baseline,
    ClientTimeout,
    ConfigFile,
    DependencyMax,
    Diff,
    Format,
    Least,
    ListRules,
    Observed,
    Paths,
    Picture,
    PodsPerNode,
    Prove,
    RequireWorkloads,
    ShowRule,
    StartupP99,
    Together,
    WriteBaseline,
)
from probelet.cli.options import KubeletVersion
from probelet.cli.terminal import complain, print_json, print_lines, print_painted
from probelet.cli.verb import verb

if TYPE_CHECKING:
    from pathlib import Path

    from probelet.cli.lint.request import Request
    from probelet.lint.baseline import Known
    from probelet.lint.engine import Report
    from probelet.lint.finding import Severity

app = verb(
    "lint",
    "Finds probes that will kill, hide or miss what their authors did not mean, with\n"
    "the seconds put in; and everything that an API server would refuse. PATH is a\n"
    "file, a directory with everything below it, or - for standard input. Objects of\n"
    "one directory are seen together: Services, budgets, autoscalers, routes. Exit\n"
    "code 1: an error was found, or anything that --severity reports.",
    "probelet lint deploy/",
    "probelet lint deploy/ --fix --diff",
    "probelet lint --explain PL203",
    "probelet lint deploy/ --prove PL203@web",
    "probelet lint deploy/ -o sarif > probelet.sarif",
    "probelet lint rendered/ --require-workloads",
    "probelet lint deploy/ --observed status.json",
)


@app.default
def lint(
    *paths: Paths,
    output: Format = "text",
    severity: Least = None,
    config: ConfigFile = None,
    baseline: Baseline = None,
    write_baseline: WriteBaseline = None,
    fix: Apply = False,
    diff: Diff = False,
    explain: ShowRule = None,
    rules: ListRules = False,
    prove: Prove = None,
    picture: Picture = None,
    together: Together = False,
    require_workloads: RequireWorkloads = False,
    observed: Observed = (),
    kubelet_version: KubeletVersion | None = None,
    client_timeout: ClientTimeout = None,
    dependency_max: DependencyMax = None,
    startup_p99: StartupP99 = None,
    pods_per_node: PodsPerNode = None,
) -> int:
    if explain is not None or rules:
        from probelet.cli.lint.rules import explanation, listing

        print_lines(*(listing() if explain is None else explanation(explain)))
        return Exit.GOOD
    # Modules and everything that is read live until the end: a collection at each 700 new objects would look at all of
    # that again and again, for half of the time.
    gc.set_threshold(200_000, 10, 10)
    if not paths:
        raise CliError("name a manifest, a directory, or -", hint="probelet lint --help")
    from probelet.cli.lint.request import Request, known_findings, observations, project_of, with_flags

    project = project_of(config)
    settings = with_flags(
        project.settings,
        kubelet_version=kubelet_version,
        client_timeout=client_timeout,
        dependency_max=dependency_max,
        startup_p99=startup_p99,
        pods_per_node=pods_per_node,
        observed=observations(observed),
    )
    request = Request(paths, settings, together, severity)
    if picture is not None and prove is None:
        raise CliError("--picture is for --prove RULE@OBJECT")
    if prove is not None:
        return _prove(request, prove, picture)
    if diff:
        return _show_difference(request)
    if fix:
        _mend(request)
    if write_baseline is not None:
        return _write_baseline(request, write_baseline)
    return _lint(request, known_findings(baseline, project), output, require_workloads=require_workloads)


def _lint(request: "Request", known: "list[Known]", output: str, *, require_workloads: bool) -> int:
    """Prints the report; returns the exit code."""
    from probelet.lint.baseline import sift
    from probelet.lint.finding import at_least

    report = request.report()
    sifted = sift(report.findings, known)
    report.findings = sifted.new
    _print(report, sifted.known, request.fails_from, output)
    if sifted.gone:
        complain(f"probelet lint: findings of the baseline that are gone: {sifted.gone}; --write-baseline drops them")
    if request.settings.observed and not report.is_observed:
        complain("probelet lint: --observed: nothing that was seen belongs to a workload of these manifests")
    lines = (*report.unreadable, *report.unread_commands, *report.broken_rules)
    complain(*(f"probelet lint: {line}" for line in lines))
    if report.broken_rules:
        return Exit.CANNOT
    if require_workloads and not report.workloads:
        complain("probelet lint: --require-workloads: there is no workload in the input, so nothing was linted")
        return Exit.USAGE
    if report.unreadable:
        return Exit.USAGE
    return Exit.FAILED if any(at_least(found.severity, request.fails_from) for found in sifted.new) else Exit.GOOD


def _print(report: "Report", known: int, fails_from: "Severity", output: str) -> None:
    match output:
        case "json":
            from probelet.cli.lint.document import document

            print_json(document(report.findings))
        case "sarif":
            from probelet._rust import version
            from probelet.cli.lint.sarif import sarif

            print_json(sarif(report.findings, version()), indented=True)
        case "junit":
            from probelet.cli.lint.junit import junit

            print_lines(*junit(report.findings, list(report.paths), fails_from))
        case "github":
            from probelet.cli.lint.github import github

            for line in github(report.findings):
                print_lines(line)
        case _:
            from probelet.cli.lint.text import lines, summary

            print_painted(*lines(report), [summary(report, known)])


def _prove(request: "Request", wanted: str, picture: "Path | None") -> int:
    from probelet.cli.lint.prove import proof

    print_lines(*proof(request, wanted, picture))
    return Exit.GOOD


def _show_difference(request: "Request") -> int:
    from probelet.cli.lint.mend import difference

    found = list(difference(request))
    if found:
        print_lines(*found)
    return Exit.FAILED if found else Exit.GOOD


def _mend(request: "Request") -> None:
    from probelet.cli.lint.mend import mend
    from probelet.cli.lint.text import many

    mended = mend(request)
    left = f"; {mended.left} left, because a comment or an anchor is in the way" if mended.left else ""
    complain(f"probelet lint: {many(mended.fixes, 'finding')} fixed in {many(mended.files, 'file')}{left}")
    complain(*(f"probelet lint: {line}" for line in mended.reasons))


def _write_baseline(request: "Request", path: "Path") -> int:
    from probelet.base.files.replaced import replace_contents
    from probelet.cli.lint.text import many
    from probelet.lint.baseline import encode_baseline

    report = request.report()
    if report.unreadable:
        raise CliError(*report.unreadable)
    try:
        replace_contents(path, encode_baseline(report.findings))
    except OSError as error:
        raise CliError(f"--write-baseline: {path}: {error.strerror}", code=Exit.CANNOT) from error
    print_lines(f"written: {path} ({many(len(report.findings), 'finding')})")
    return Exit.GOOD
