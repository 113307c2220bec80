"""The command line as data, read from the applications that parse it: what the man pages and the reference say."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cyclopts import App, Group
from cyclopts.help import HelpEntry, create_parameter_help_panel, format_usage
from probelet.cli.app import build_app
from probelet.cli.completion import FLAG
from probelet.cli.exit import EXIT_CODES
from probelet.cli.help_panel import as_typed
from probelet.cli.verbs import INSTALL_COMPLETION, installed

PROGRAM = "probelet"
EXAMPLES = "Examples:\n"


@dataclass(frozen=True)
class Option:
    """An argument or an option of a command: its names with what they take, and what it does."""

    label: str
    about: str
    choices: tuple[str, ...] = ()
    default: str | None = None
    required: bool = False


@dataclass(frozen=True)
class Command:
    """A verb, or one of its commands, with its own usage and options. ``about`` is empty for a verb."""

    words: tuple[str, ...]
    usage: str
    about: str
    options: tuple[Option, ...]


@dataclass(frozen=True)
class VerbPage:
    """Everything that the help of a verb and of its commands says."""

    name: str
    about: str
    more: str
    usage: str
    commands: tuple[Command, ...]
    """The verb itself, if it does something without a further word, then its commands."""
    examples: tuple[str, ...]
    package: str = ""
    """The distribution that has the verb, if it is not probelet itself."""


def verb_pages() -> Iterator[VerbPage]:
    """The verbs of this installation in their order."""
    root = build_app()
    for verb in installed():
        yield replace(_page(root, verb.name, verb.help), package=verb.package)


def install_completion_page() -> VerbPage:
    """The option of probelet that has options of its own."""
    return _page(build_app(), FLAG, INSTALL_COMPLETION)


def _page(root: App, name: str, about: str) -> VerbPage:
    app = root[name]
    more, _, examples = (app.help_epilogue or "").partition(EXAMPLES)
    words = [word for word in app if not word.startswith("-")]
    commands = [_command(root, (name,), "")] if app.default_command is not None else []
    commands += [_command(root, (name, word), app[word].help.strip()) for word in words]
    lines = tuple(line.strip() for line in examples.splitlines())
    return VerbPage(name, about, more.strip(), _usage(root, (name,)), tuple(commands), lines)


def program_usage() -> str:
    """The usage of probelet as a whole."""
    return _usage(build_app(), ())


def program_about() -> str:
    """What probelet is, in a sentence."""
    return build_app().help


def exit_codes() -> list[tuple[str, str]]:
    """Each exit code with its meaning."""
    codes = EXIT_CODES.removeprefix("Exit codes: ").replace("\n", " ").rstrip(".").split("; ")
    return [(code, meaning) for code, _, meaning in (text.partition(" ") for text in codes)]


def _command(root: App, words: tuple[str, ...], about: str) -> Command:
    return Command(words, _usage(root, words), about, tuple(_options(root, words)))


def _usage(root: App, words: tuple[str, ...]) -> str:
    with root.app_stack(list(words)):
        return str(format_usage(root, list(words))).strip().removeprefix("Usage: ")


def _options(root: App, words: tuple[str, ...]) -> Iterator[Option]:
    _, apps, _ = root.parse_commands(list(words))
    with root.app_stack(apps):
        arguments = apps[-1].assemble_argument_collection(parse_docstring=True)
        panel = create_parameter_help_panel(Group("Parameters"), arguments, "plaintext")
    yield from map(_option, map(as_typed, panel.entries))


def _option(entry: HelpEntry) -> Option:
    return Option(
        " ".join(entry.display_labels_with_metavar),
        str(entry.description.primary_renderable),
        tuple(entry.choices or ()),
        None if entry.default is None else str(entry.default),
        bool(entry.required),
    )
