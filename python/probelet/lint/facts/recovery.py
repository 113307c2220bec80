"""Databases that answer a probe while they recover from a crash."""

from typing import Final

from probelet.lint.command.shell import program
from probelet.lint.command.statements import statements
from probelet.lint.model.workload import LintProbe

_LISTEN_FIRST: Final = frozenset(
    {"postgres", "postgresql", "postgis", "timescaledb", "redis", "valkey", "keydb", "etcd", "zookeeper"}
)
"""They listen before they read their log: the kernel accepts a connection for them."""

_REDIS: Final = frozenset({"redis-cli", "valkey-cli", "keydb-cli"})
"""Without ``-e`` the answer LOADING is a success."""

_RABBITMQ: Final = frozenset({"rabbitmq-diagnostics", "rabbitmqctl"})
_OF_THE_NODE: Final = frozenset({"ping", "status"})
"""Commands that the Erlang node answers, also before the broker in it runs."""


def answers_in_recovery(probe: LintProbe, database: str) -> bool:
    """True if the probe of this database succeeds although its recovery has not ended."""
    if probe.handler == "tcpSocket":
        return database in _LISTEN_FIRST
    found = list(statements(probe.argv))
    if len(found) != 1:
        # Something judges the answer.
        return False
    name, words = program(found[0]), found[0][1:]
    if name in ("nc", "ncat", "netcat"):
        return database in _LISTEN_FIRST and any(word.startswith("-") and "z" in word for word in words)
    if name in _REDIS:
        return "-e" not in words
    return name in _RABBITMQ and bool(_OF_THE_NODE.intersection(words))
