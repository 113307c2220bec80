"""The root of the command line: finds the verb, and turns whatever goes wrong into one line and an exit code."""

import os
import sys
from collections.abc import Iterable
from io import TextIOWrapper
from typing import NoReturn

from cyclopts import App, CycloptsError, Group, Parameter, UnknownCommandError, UnusedCliTokensError

from probelet.cli.exit import EXIT_CODES, CliError, Exit
from probelet.cli.verbs import VERBS

_GROUPS = {name: Group(name, sort_key=place) for place, name in enumerate(("Node", "Laboratory", "Tools"))}


def _version() -> str:
    from probelet._rust import version

    return version()


def build_app() -> App:
    """All verbs under ``probelet``. None of their modules is imported before it is needed."""
    app = App(
        name="probelet",
        help="Liveness, readiness and startup probes with the kubelet's exact semantics, as a service of its own.",
        help_epilogue=f"'probelet VERB --help' shows examples.\n{EXIT_CODES}",
        help_format="plaintext",
        version=_version,
        group_commands=Group("Options", sort_key=9),
        default_parameter=Parameter(negative=""),
        result_action="return_value",
    )
    for place, verb in enumerate(VERBS):
        group = _GROUPS[verb.group]
        app.command(f"probelet.cli.{verb.module}:app", name=verb.name, help=verb.help, group=group, sort_key=place)
    return app


def run_command(arguments: list[str]) -> int:
    """Run one command line and return its exit code; whatever is wrong has been said on stderr."""
    known = {verb.name: verb for verb in VERBS}
    verb = known.get(arguments[0]) if arguments else None
    who = f"probelet {verb.name}" if verb else "probelet"
    try:
        if (
            verb
            and verb.words
            and arguments[1:]
            and not arguments[1].startswith("-")
            and arguments[1] not in verb.words
        ):
            # The library would complain about the options that follow.
            return _complain(who, _unknown(verb.word, arguments[1], verb.words, who))
        return int(build_app()(arguments, exit_on_error=False, print_error=False) or Exit.GOOD)
    except UnknownCommandError as error:
        # Said here because the library would import every verb to say it.
        return _complain(who, _unknown("verb", (error.unused_tokens or [""])[0], known, who))
    except CycloptsError as error:
        error.verbose = False
        chain = " ".join(["probelet", *(error.command_chain or ())])
        said = " ".join(str(error).split())
        if isinstance(error, UnusedCliTokensError):
            said = f'nothing is known of "{" ".join(error.unused_tokens or ())}" here'
        return _complain(chain, CliError(said, hint=f"{chain} --help"))
    except CliError as error:
        return _complain(who, error)


def _unknown(what: str, word: str, known: Iterable[str], who: str) -> CliError:
    import difflib

    close = difflib.get_close_matches(word, known, n=1)
    meant = f'; did you mean "{close[0]}"?' if close else ""
    return CliError(f'there is no {what} "{word}"{meant}', hint=f"{who} --help")


def _complain(who: str, error: CliError) -> int:
    for line in error.lines:
        print(f"{who}: {line}", file=sys.stderr)
    if error.hint:
        print(f"  try: {error.hint}", file=sys.stderr)
    return error.code


def main() -> NoReturn:
    """The console script ``probelet``."""
    # A mark that the terminal's encoding does not have must not end the verb.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code = run_command(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = Exit.GOOD
    except (BrokenPipeError, SystemExit) as error:
        # Whoever read us has seen enough (`probelet events | head`). rich makes that a SystemExit of its own.
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        # Nothing may complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = Exit.GOOD
    sys.exit(code)
