"""Errors about the command line: the library's, in the words of a person."""

import re
from collections.abc import Iterable

from cyclopts import CoercionError, CycloptsError, MissingArgumentError, UnusedCliTokensError

from probelet.cli.exit import CliError, Exit
from probelet.cli.verbs import ADDED

_KINDS = {"int": "whole number", "float": "number", "Path": "path"}
_UNREADABLE = re.compile(rf'unable to convert (".*") into ({"|".join(_KINDS)})\.', re.DOTALL)
FEW = 6
"""So many words an error lists; the help has more."""


def chain_of(error: CycloptsError) -> str:
    """The command that the error is about, such as ``probelet run``."""
    return " ".join(["probelet", *(error.command_chain or ())])


def told(error: CycloptsError) -> CliError:
    """The error of a verb, with its help as the hint."""
    error.verbose = False
    text = " ".join(str(error).split())
    match error:
        case UnusedCliTokensError():
            text = f'unexpected: "{" ".join(error.unused_tokens or ())}"'
        case MissingArgumentError():
            text = _missing(error)
        case CoercionError():
            text = _UNREADABLE.sub(lambda found: f"{found[1]} is no {_KINDS[found[2]]}", text)
    return CliError(text, hint=f"{chain_of(error)} --help")


def _missing(error: MissingArgumentError) -> str:
    argument = error.argument
    assert argument is not None
    given = error.keyword or next((token.keyword for token in argument.tokens if token.keyword), None)
    if given is not None:
        return f"{given} needs a value"
    # The library takes the name of an argument (POD) for that of an option as well.
    name = argument.name.removeprefix("--")
    return f"{name if argument.index is not None and name.isupper() else argument.name} is missing"


def unknown(what: str, word: str, known: Iterable[str], command: str) -> CliError:
    """The error about a word that is not among the ``known`` words."""
    for verb in ADDED:
        if what == "verb" and word == verb.name:
            text = f'the verb "{word}" is in the package {verb.package}, which is not installed'
            return CliError(text, code=Exit.CANNOT, hint=f"pip install {verb.package}")
    if word.startswith("-"):
        return CliError(f'there is no option "{word}"', hint=f"{command} --help")
    import difflib

    words = list(known)
    close = difflib.get_close_matches(word, words, n=1)
    listed = f"; want {', '.join(words[:-1])} or {words[-1]}" if 1 < len(words) <= FEW else ""
    meant = f'; did you mean "{close[0]}"?' if close else listed
    return CliError(f'there is no {what} "{word}"{meant}', hint=f"{command} --help")
