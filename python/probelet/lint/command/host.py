"""Which host a command asks: the clients that probes run, and where each has its host."""

import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import urlsplit

from probelet.lint.command.shell import program

_BY_OPTION: Final[Mapping[str, tuple[str, ...]]] = {
    "psql": ("-h", "--host"),
    "pg_isready": ("-h", "--host"),
    "mysql": ("-h", "--host"),
    "mysqladmin": ("-h", "--host"),
    "mariadb": ("-h", "--host"),
    "mariadb-admin": ("-h", "--host"),
    "redis-cli": ("-h", "-u"),
    "valkey-cli": ("-h", "-u"),
    "mongosh": ("--host",),
    "mongo": ("--host",),
    "nodetool": ("-h", "--host"),
    "kafka-topics.sh": ("--bootstrap-server",),
    "kafka-broker-api-versions.sh": ("--bootstrap-server",),
    "etcdctl": ("--endpoints",),
    "grpc_health_probe": ("-addr", "--addr"),
    "grpc-health-probe": ("-addr", "--addr"),
}
"""Program -> the options whose value is a host, a host with a port, a URL, or a list of them."""

_BY_PLACE: Final = frozenset({"curl", "wget", "nc", "ncat", "netcat", "telnet", "ping", "mongosh", "mongo", "psql"})
"""Programs whose host is an argument."""

_BARE_HOST: Final = re.compile(r"(?P<host>[A-Za-z0-9_.${}-]+|\[[0-9a-fA-F:]+\])(:\d+)?(/\S*)?")
_HOST: Final = re.compile(r"[A-Za-z0-9_.${}:-]+")
_LOCAL: Final = re.compile(r"localhost(\..*)?|ip6-localhost|127\.[0-9.]+|::1|0\.0\.0\.0|::", re.IGNORECASE)
_CONNINFO: Final = re.compile(r"(?:^|\s)host=(\S+)")


def is_loopback(host: str) -> bool:
    """True for a name or address of the container itself."""
    return _LOCAL.fullmatch(host.strip("[]")) is not None


def hosts(words: list[str]) -> Iterator[str]:
    """The hosts that a client names, as written: names, addresses, or a shell's variables. A client that names none
    asks the container itself."""
    name = program(words)
    for value in _values(words[1:], _BY_OPTION.get(name, ())):
        for part in value.split(","):
            yield from _host_of(part)
    if name in _BY_PLACE:
        yield from _placed(name, words[1:])


def _values(words: list[str], options: tuple[str, ...]) -> Iterator[str]:
    """The values of options, also behind ``=`` or, for one letter, right behind it."""
    for index, word in enumerate(words):
        for option in options:
            if word == option and index + 1 < len(words):
                yield words[index + 1]
            elif word.startswith(f"{option}="):
                yield word[len(option) + 1 :]
            elif len(option) == 2 and word.startswith(option) and len(word) > 2:
                yield word[2:]


def _placed(name: str, words: list[str]) -> Iterator[str]:
    """The hosts among the arguments."""
    if name in ("nc", "ncat", "netcat", "telnet"):
        # The port comes right behind the host.
        plain = [word for word in words if not word.startswith("-")]
        if len(plain) >= 2 and re.fullmatch(r"[0-9]+|\$\{?\w+\}?", plain[-1]) and not plain[-2].isdigit():
            yield from _host_of(plain[-2])
        return
    for word in words:
        if "://" in word:
            yield from _host_of(word)
        elif name == "psql":
            yield from _CONNINFO.findall(word)
    if name in ("curl", "wget", "ping") and words and not any("://" in word for word in words):
        # An address without a scheme looks like the value of an option. Its place is the last one.
        *before, last = words
        if not last.startswith(("-", "/")) and (not before or before[-1] not in ("-o", "-O", "-H")):
            yield from _host_of(last)


def _host_of(value: str) -> Iterator[str]:
    """The host of a URL, or of a host with a port and a path."""
    if "://" in value:
        try:
            host = urlsplit(value).netloc.rpartition("@")[2]
        except ValueError:
            return
        value = host.split(",")[0]
    found = _BARE_HOST.fullmatch(value)
    host = found["host"].strip("[]") if found is not None else value
    if host and _HOST.fullmatch(host):
        yield host
