"""The root of the command line: finds the verb, and turns every error into one line and an exit code."""

import os
import signal
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import NoReturn

from cyclopts import App, CycloptsError, Group, Parameter, UnknownCommandError

from probelet.cli.exit import EXIT_CODES, CliError, Exit
from probelet.cli.help_panel import Panels, shown_default
from probelet.cli.output import OutputError, discard_output, set_up_output
from probelet.cli.terminal import complain
from probelet.cli.usage import chain_of, told, unknown
from probelet.cli.verbs import INSTALL_COMPLETION, VERBS, Verb, installed

STDIN = "/dev/stdin"
"""The path that ``spec.read.load`` takes for standard input; this module imports nothing that a verb may not need."""

_RECORDED = ("conformance", "replay")
"""Verbs for contributors that judge recordings."""

_GROUPS = {
    name: Group(name, sort_key=order)
    for order, name in enumerate(("Node", "Cluster", "Laboratory", "Tools", "For contributors"))
}


def _version() -> str:
    from probelet._rust import version

    return version()


def build_app(verbs: Iterable[Verb] | None = None) -> App:
    """The application with these verbs, or with all of this installation; it imports a verb's module only when that
    verb runs."""
    app = App(
        name="probelet",
        help="Liveness, readiness and startup probes with the kubelet's exact semantics, as a service of its own.",
        help_epilogue=f"'probelet VERB --help' explains a verb and shows examples.\n{EXIT_CODES}",
        help_format="plaintext",
        help_formatter=Panels(),
        version=_version,
        group_commands=Group("Options", sort_key=9),
        default_parameter=Parameter(negative="", show_default=shown_default),
        result_action="return_value",
        # `main` decides what Ctrl-C means.
        suppress_keyboard_interrupt=False,
    )
    for order, verb in enumerate(installed() if verbs is None else verbs):
        app.command(verb.app, name=verb.name, help=verb.help, group=_GROUPS[verb.group], sort_key=order)
    app.command("probelet.cli.completion:app", name="--install-completion", help=INSTALL_COMPLETION)
    return app


def run_command(arguments: list[str]) -> int:
    """Runs one command line and returns its exit code; it has written any error to stderr."""
    complain_of = partial(_complain, as_json=_wants_json(arguments))
    first = arguments[0] if arguments else ""
    is_own = first != "help" and any(verb.name == first for verb in VERBS)
    known = {verb.name: verb for verb in (VERBS if is_own else installed())}
    verb = known.get(first)
    command = f"probelet {verb.name}" if verb else "probelet"
    arguments = [*arguments[:1], *_with_stdin(arguments)]
    try:
        if (
            verb
            and verb.words
            and arguments[1:]
            and not arguments[1].startswith("-")
            and arguments[1] not in verb.words
        ):
            # The library would complain about the options after the wrong word.
            return complain_of(command, unknown(verb.word, arguments[1], verb.words, command))
        return int(build_app(known.values())(arguments, exit_on_error=False, print_error=False) or Exit.GOOD)
    except UnknownCommandError as error:
        # The library would import every verb to report this.
        return complain_of(command, unknown("verb", (error.unused_tokens or [""])[0], known, command))
    except CycloptsError as error:
        return complain_of(chain_of(error), told(error))
    except CliError as error:
        return complain_of(command, error)


def _with_stdin(arguments: list[str]) -> Iterator[str]:
    """The arguments of a verb. ``-`` in place of a manifest becomes the path of standard input: the library takes it
    for an option."""
    for before, argument in pairwise(arguments):
        takes_stdin = arguments[0] in ("run", "explain", "lint", "simulate")
        is_manifest = argument == "-" and (takes_stdin or before == "--from")
        is_option = argument in ("--from=-", "--against=-")
        if arguments[0] == "run" and argument.startswith("--stand-in="):
            # The library knows no option whose value may be left out.
            yield argument.replace("--stand-in=", "--stand-in-file=", 1)
        else:
            yield STDIN if is_manifest else f"{argument[:-1]}{STDIN}" if is_option else argument


def _wants_json(arguments: list[str]) -> bool:
    """True if the verb logs as JSON: then every line on stderr is a JSON object, refusals too."""
    return "--log-format=json" in arguments or ("--log-format", "json") in pairwise(arguments)


def _complain(command: str, error: CliError, *, as_json: bool = False) -> int:
    if as_json:
        _complain_as_json(command, error)
        return error.code
    for line in error.lines:
        complain(f"{command}: {line}")
    if error.hint:
        complain(f"  try: {error.hint}")
    return error.code


def _complain_as_json(command: str, error: CliError) -> None:
    """Writes the lines in the form of the log (``daemon.logging``)."""
    from datetime import UTC, datetime

    import msgspec

    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    hint = {"hint": error.hint} if error.hint else {}
    for line in error.lines:
        level = "warning" if ": warning: " in line else "error"
        record = {"verb": command, "level": level, "at": at, "message": line.replace(": warning: ", ": ", 1), **hint}
        complain(msgspec.json.encode(record).decode())


def _end_interrupted() -> int:
    """The exit code after Ctrl-C. A verb that judges has no verdict yet: it ends by the signal, so that a shell does
    not go on with ``probelet lint deploy/ && kubectl apply``. Any other one follows until somebody stops it."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name in _RECORDED or any(verb.name == name and verb.group == "Laboratory" for verb in VERBS):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return Exit.GOOD


def _end_at_interrupt(unraisable: "sys.UnraisableHookArgs") -> None:
    """Ends the process at a Ctrl-C that came while the interpreter ran a callback of its own, such as one of the import
    system: it would print a traceback there, and forget the Ctrl-C."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        os._exit(_end_interrupted())
    sys.__unraisablehook__(unraisable)


def main(*, handles_interrupt: bool = True) -> NoReturn:
    """Runs the command line and exits. ``handles_interrupt``: Ctrl-C ends a verb as its end would; False if the caller
    of the process has it ignored."""
    set_up_output()
    try:
        if handles_interrupt:
            sys.unraisablehook = _end_at_interrupt
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = run_command(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = _end_interrupted()
    except RuntimeError as error:
        # Python 3.11 wraps an exception that ends the making of a class, and Ctrl-C may be that one.
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        code = _end_interrupted()
    except (BrokenPipeError, SystemExit) as error:
        # The reader closed the pipe (`probelet events | head`); rich turns that into its own SystemExit.
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        discard_output()
        code = Exit.GOOD
    except OutputError as error:
        complain(f"probelet: {error}")
        discard_output()
        code = Exit.CANNOT
    if handles_interrupt:
        # The interpreter's own end would show the traceback of a second Ctrl-C.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(code)
