"""The hosts that commands of exec probes ask, for incidents: the linter reads their words."""

import re
from functools import lru_cache
from typing import Final

from probelet.lint.command.host import hosts, is_loopback
from probelet.lint.command.statements import statements
from probelet.spec.model.container import Container

COMMAND_CHARS_MAX: Final = 4_096
"""A longer command is a program of its own, and takes long to read."""

_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)\}|\((\w+)\)|(\w+))")
_READABLE: Final = re.compile(r"[\w.:-]+")


def asked_hosts(container: Container, command: list[str]) -> tuple[str, ...]:
    """The hosts beyond the container, each once, without ports. Variables have the values that the manifest gives them;
    a host that only the container knows is left out."""
    if sum(map(len, command)) > COMMAND_CHARS_MAX:
        return ()
    values = tuple(sorted({entry.name: entry.value for entry in container.env if entry.value_from is None}.items()))
    return _hosts(tuple(command), values)


@lru_cache(256)
def _hosts(command: tuple[str, ...], values: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """The pods of a workload have one command: it is read once."""
    known = dict(values)
    found: dict[str, None] = {}
    for words in statements([*command]):
        for host in hosts(words):
            name = _VARIABLE.sub(lambda match: known.get(match[1] or match[2] or match[3], "$"), host)
            if not is_loopback(name) and _READABLE.fullmatch(name) is not None:
                found[name] = None
    return tuple(found)
