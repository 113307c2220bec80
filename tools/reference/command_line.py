"""docs/reference/command-line.md."""

from collections.abc import Iterator

from tools.manual.command import (
    PROGRAM,
    Command,
    Option,
    VerbPage,
    exit_codes,
    install_completion_page,
    program_about,
    verb_pages,
)
from tools.reference.markdown import block, code, prose, table

HEAD = """
# Command line

For everybody who types `probelet`: every verb with its arguments, options and examples, as `probelet VERB --help` and
the man pages have them.
"""

PACKAGED = """
The package `{package}` has this verb: a checkout has it after `make build`, and
[packaging.md](../dev/packaging.md#conformance) installs it elsewhere.
"""

NOT_RUN = "examples of the help, for files and services of the reader's own"


def command_line_page() -> str:
    verbs = list(verb_pages())
    rows = [[f"[{verb.name}](#{PROGRAM}-{verb.name})", verb.about] for verb in verbs]
    also = f"`{PROGRAM} --help` lists the verbs, `{PROGRAM} --version` prints the version."
    lines = [*prose(HEAD), "", program_about(), "", *table(["verb", "what it does"], rows), "", also]
    lines += [
        "",
        "## Exit codes",
        "",
        *table(["code", "meaning"], exit_codes()),
        "",
        "[exit-codes.md](../exit-codes.md) says more about them.",
    ]
    for verb in (*verbs, install_completion_page()):
        lines += ["", *_verb(verb)]
    return "\n".join(lines)


def _verb(verb: VerbPage) -> Iterator[str]:
    yield from (f"## {PROGRAM} {verb.name}", "", verb.about)
    if verb.package:
        yield from ("", *prose(PACKAGED.format(package=verb.package)))
    if verb.more:
        yield from ("", *prose(verb.more))
    for command in verb.commands:
        if len(command.words) > 1:
            yield from ("", f"### {PROGRAM} {' '.join(command.words)}", "", command.about)
        yield from ("", *block("text", [command.usage]), *_options(command))
    yield from ("", "Examples:", "", *block("console", [f"$ {line}" for line in verb.examples], not_run=NOT_RUN))


def _options(command: Command) -> Iterator[str]:
    if command.options:
        rows = [[code(option.label), _about(option)] for option in command.options]
        yield from ("", *table(["argument or option", "what it does"], rows))


def _about(option: Option) -> str:
    parts = [option.about]
    if option.choices:
        parts.append(f"One of {', '.join(map(code, option.choices))}.")
    if option.default is not None:
        parts.append(f"Default {code(option.default)}.")
    if option.required:
        parts.append("Required.")
    return " ".join(parts)
