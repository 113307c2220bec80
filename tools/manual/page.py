"""One page for probelet and one for each verb, read from the applications that parse the command line."""

from collections.abc import Iterator

from cyclopts import App, Group
from cyclopts.help import HelpEntry, create_parameter_help_panel, format_usage
from probelet import _rust
from probelet.cli.app import build_app
from probelet.cli.exit import EXIT_CODES
from probelet.cli.verbs import INSTALL_COMPLETION, VERBS

from tools.manual.roff import bold, escaped, filled, heading, item, verbatim

PROGRAM = "probelet"
EXAMPLES = "Examples:\n"


def pages() -> Iterator[tuple[str, str]]:
    """The name of each page's file, and its text."""
    root = build_app()
    yield f"{PROGRAM}.1", _text(_overview(root))
    for verb in VERBS:
        yield f"{PROGRAM}-{verb.name}.1", _text(_page_of(root, verb.name, verb.help))


def _text(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def _title(name: str, what: str) -> list[str]:
    version = f"{PROGRAM} {_rust.version()}"
    title = f'.TH "{escaped(name.upper())}" 1 "" "{escaped(version)}" "User Commands"'
    return [title, ".ad l", ".nh", heading("NAME"), f"{escaped(name)} \\- {escaped(what)}"]


def _overview(root: App) -> list[str]:
    lines = _title(PROGRAM, "run the probes of a node's containers, as a kubelet does")
    lines += [heading("SYNOPSIS"), *_usage(root, []), heading("DESCRIPTION"), *filled(root.help)]
    for group in dict.fromkeys(verb.group for verb in VERBS):
        lines.append(heading(f'"VERBS: {group.upper()}"'))
        for verb in VERBS:
            if verb.group == group:
                lines += item(f"{bold(f'{PROGRAM}-{verb.name}')}(1)", verb.help)
    lines += [heading("OPTIONS"), *item(bold("--help"), "Show the verbs, or the help of a verb.")]
    lines += item(bold("--version"), "Show the version.")
    lines += item(bold("--install-completion"), INSTALL_COMPLETION)
    return [*lines, *_exit_status()]


def _page_of(root: App, verb: str, what: str) -> list[str]:
    lines = _title(f"{PROGRAM}-{verb}", what)
    app = root[verb]
    more, _, examples = (app.help_epilogue or "").partition(EXAMPLES)
    lines += [heading("SYNOPSIS"), *_usage(root, [verb])]
    commands = [name for name in app if not name.startswith("-")]
    for name in commands:
        lines += _usage(root, [verb, name])
    lines += [heading("DESCRIPTION"), *filled(f"{what}\n\n{more}".strip())]
    if app.default_command is not None:
        lines += [heading("OPTIONS"), *_options(root, [verb])]
    for name in commands:
        lines += [heading(f'"{escaped(f"{PROGRAM} {verb} {name}".upper())}"'), *filled(app[name].help)]
        lines += _options(root, [verb, name])
    lines += [heading("EXAMPLES"), *verbatim(line.strip() for line in examples.splitlines())]
    return [*lines, *_exit_status(), heading("SEE ALSO"), f"{bold(PROGRAM)}(1)"]


def _usage(root: App, words: list[str]) -> list[str]:
    with root.app_stack(words):
        return [".PP", bold(str(format_usage(root, words)).strip())]


def _options(root: App, words: list[str]) -> Iterator[str]:
    """Arguments and options of a command, with what each accepts and does."""
    _, apps, _ = root.parse_commands(words)
    with root.app_stack(apps):
        arguments = apps[-1].assemble_argument_collection(parse_docstring=True)
        panel = create_parameter_help_panel(Group("Parameters"), arguments, "plaintext")
    for entry in panel.entries:
        yield from item(bold(" ".join(entry.display_labels_with_metavar)), " ".join(_about(entry)))


def _about(entry: HelpEntry) -> Iterator[str]:
    yield str(entry.description.primary_renderable)
    if entry.choices:
        yield f"[choices: {', '.join(entry.choices)}]"
    if entry.default not in (None, "False"):
        yield f"[default: {entry.default}]"
    if entry.required:
        yield "[required]"


def _exit_status() -> list[str]:
    codes = EXIT_CODES.removeprefix("Exit codes: ").replace("\n", " ").rstrip(".").split("; ")
    lines = [heading('"EXIT STATUS"')]
    for code, _, meaning in (text.partition(" ") for text in codes):
        lines += item(bold(code), meaning)
    return lines
