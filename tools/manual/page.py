"""One page for probelet and one for each verb."""

from collections.abc import Iterator

from probelet import _rust
from probelet.cli.verbs import INSTALL_COMPLETION, installed

from tools.manual.command import PROGRAM, Option, VerbPage, exit_codes, program_about, program_usage, verb_pages
from tools.manual.roff import bold, escaped, filled, heading, item, verbatim


def pages() -> Iterator[tuple[str, str]]:
    """The name of each page's file, and its text."""
    yield f"{PROGRAM}.1", _text(_overview())
    for verb in verb_pages():
        yield f"{PROGRAM}-{verb.name}.1", _text(_page_of(verb))


def _text(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def _title(name: str, what: str) -> list[str]:
    version = f"{PROGRAM} {_rust.version()}"
    title = f'.TH "{escaped(name.upper())}" 1 "" "{escaped(version)}" "User Commands"'
    return [title, ".ad l", ".nh", heading("NAME"), f"{escaped(name)} \\- {escaped(what)}"]


def _overview() -> list[str]:
    lines = _title(PROGRAM, "run the probes of a node's containers, as a kubelet does")
    lines += [heading("SYNOPSIS"), *_usage(program_usage()), heading("DESCRIPTION"), *filled(program_about())]
    for group in dict.fromkeys(verb.group for verb in installed()):
        lines.append(heading(f'"VERBS: {group.upper()}"'))
        for verb in installed():
            if verb.group == group:
                lines += item(f"{bold(f'{PROGRAM}-{verb.name}')}(1)", verb.help)
    lines += [heading("OPTIONS"), *item(bold("--help"), "Show the verbs, or the help of a verb.")]
    lines += item(bold("--version"), "Show the version.")
    lines += item(bold("--install-completion"), INSTALL_COMPLETION)
    return [*lines, *_exit_status()]


def _page_of(verb: VerbPage) -> list[str]:
    lines = _title(f"{PROGRAM}-{verb.name}", verb.about)
    lines += [heading("SYNOPSIS"), *_usage(verb.usage)]
    commands = [command for command in verb.commands if len(command.words) > 1]
    for command in commands:
        lines += _usage(command.usage)
    lines += [heading("DESCRIPTION"), *filled(f"{verb.about}\n\n{verb.more}".strip())]
    for command in verb.commands:
        if command in commands:
            words = " ".join((PROGRAM, *command.words))
            lines += [heading(f'"{escaped(words.upper())}"'), *filled(command.about)]
        else:
            lines.append(heading("OPTIONS"))
        for option in command.options:
            lines += item(bold(option.label), " ".join(_about(option)))
    lines += [heading("EXAMPLES"), *verbatim(verb.examples)]
    return [*lines, *_exit_status(), heading("SEE ALSO"), f"{bold(PROGRAM)}(1)"]


def _usage(usage: str) -> list[str]:
    return [".PP", bold(usage)]


def _about(option: Option) -> Iterator[str]:
    yield option.about
    if option.choices:
        yield f"[choices: {', '.join(option.choices)}]"
    if option.default is not None:
        yield f"[default: {option.default}]"
    if option.required:
        yield "[required]"


def _exit_status() -> list[str]:
    lines = [heading('"EXIT STATUS"')]
    for code, meaning in exit_codes():
        lines += item(bold(code), meaning)
    return lines
