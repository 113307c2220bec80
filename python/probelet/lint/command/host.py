"""Which hosts a command asks, as its words have them. Each client's syntax is in ``address.py``."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from probelet.lint.command.address import Client, client
from probelet.lint.command.shell import program

ITSELF: Final = ""
"""The host of an address without one, and of a socket: the container itself. Go, HTTPie and the clients of databases
take an empty host for the local machine."""

_NAME: Final = r"(?:\$\{[^{}]*\}|\$\([\w.-]*\)|\$[A-Za-z_]\w*|[A-Za-z0-9_.-])*"
_HOST_PORT: Final = re.compile(
    rf"\A(?P<host>{_NAME}|\[[0-9a-fA-F:.%\w]*\])(?::[\w${{}}()=:-]*)?(?:[/?#,;\\].*)?", re.DOTALL
)
_IPV6: Final = re.compile(r"[0-9a-fA-F:.]++")
_SCHEME: Final = re.compile(r"\A(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{0,20})://(?P<rest>.*)", re.DOTALL)
_NEXT_URL: Final = re.compile(r",(?=[A-Za-z][A-Za-z0-9+.-]{0,20}://)")
_SOCKET: Final = re.compile(r"unix(-abstract)?:|ldapi:|[/@]")
_LOCAL: Final = re.compile(
    r"localhost[46]?(\.localdomain[46]?)?\.?|ip6-(localhost|loopback)|\.|\(local\)|"
    r"127(\.[0-9]+){1,3}|0|0\.0\.0\.0|::1?|(0{1,4}:){7}0{0,3}1|::ffff:127\.[0-9.]+",
    re.IGNORECASE,
)
_CONNINFO: Final = re.compile(r"(?:^|\s)host(?:addr)?\s?=\s?'?([^\s']+)")
_PORT: Final = re.compile(r"[0-9]+(-[0-9]+)?|\$\{?\w+\}?")
_DEVICE: Final = re.compile(r"/dev/(?:tcp|udp)/([^/\s]+)/[^/\s]+")
_PROTOCOL: Final = re.compile(r"^(tcp|np|lpc|admin):", re.IGNORECASE)
_RESOLVER: Final = re.compile(r"^(?:dns|ipv4|ipv6):(?=[^:]*:)")
"""A scheme of gRPC without an authority: ``dns:db:50051``."""

_PATH_SCHEMES: Final = frozenset({"dns", "passthrough", "ipv4", "ipv6"})
"""The schemes of gRPC whose host stands in the path: ``dns:///db:50051``."""


def is_loopback(host: str) -> bool:
    """True for a name or address of the container itself."""
    return host == ITSELF or host.endswith(".localhost") or _LOCAL.fullmatch(host.strip("[]")) is not None


def hosts(words: list[str]) -> Iterator[str]:
    """The hosts that a program asks, as written: names, addresses, a shell's variables, or ``ITSELF``. None for a
    client that names none, which asks the container itself, and for a program that is no client."""
    for word in words:
        # A file of bash, behind an operator that reads or writes.
        if (found := _DEVICE.fullmatch(word)) is not None:
            yield found[1]
    syntax = client(program(words))
    if syntax is None:
        return
    arguments, values, has_socket = _read(words[1:], syntax)
    if has_socket or _is_sent_home(words):
        yield ITSELF
        return
    for value in values:
        yield from _of_option(value, syntax)
    yield from _placed(arguments, syntax)


def _is_sent_home(words: list[str]) -> bool:
    """True for curl with the container's own address for a name: ``--resolve web:443:127.0.0.1``."""
    for option, value in pairwise(words):
        name, equals, attached = option.partition("=")
        if name in ("--resolve", "--connect-to"):
            address = (attached if equals else value).split(":", 2)[-1]
            if is_loopback(_host(address)) and address:
                return True
    return False


def hosts_of(value: str) -> Iterator[str]:
    """The hosts of an address, of a URL, or of a list of them."""
    for each in _NEXT_URL.split(value):
        yield from _of_one(each)


def _of_one(value: str) -> Iterator[str]:
    """The hosts of a URL, whose authority may be a list as in MongoDB's, or of addresses without a scheme."""
    scheme = _SCHEME.match(value)
    if scheme is not None and not _SOCKET.match(value):
        rest = scheme["rest"]
        is_in_path = scheme["scheme"].lower() in _PATH_SCHEMES
        value = (rest.partition("/")[2] or rest) if is_in_path else _authority(rest)
    for part in value.split(","):
        yield _host(part.strip())


def _of_option(value: str, syntax: Client) -> Iterator[str]:
    match syntax.form:
        case "node":
            yield from hosts_of(value.rpartition("@")[2]) if "@" in value else (ITSELF,)
        case "sql server":
            yield from hosts_of(re.split(r"[,\\]", _PROTOCOL.sub("", value), maxsplit=1)[0])
        case _:
            yield from hosts_of(_members(value) if syntax.place == "database" else value)


def _members(value: str) -> str:
    """The members of a replica set, whose name stands before them: ``rs0/db-0:27017,db-1:27017``."""
    name, _, members = value.partition("/")
    return members if re.search(r"[:,]", members) and not re.search(r"[.:]", name) else value


def _host(value: str) -> str:
    """The host of an address without a scheme, or of a name of gRPC; all of it if it cannot be read."""
    if not value or _SOCKET.match(value):
        return ITSELF
    if (scheme := _SCHEME.match(value)) is not None:
        value = _authority(scheme["rest"])
    value = _RESOLVER.sub("", value)
    if value.count(":") > 1 and _IPV6.fullmatch(value):
        return value
    found = _HOST_PORT.fullmatch(value)
    return found["host"].strip("[]") if found is not None else value


def _authority(rest: str) -> str:
    """The authority of a URL behind its scheme, without the user."""
    return re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2]


def _read(words: list[str], syntax: Client) -> tuple[list[str], list[str], bool]:
    """The arguments of a client, the values of its options with an address, and whether it uses a socket."""
    arguments, values, has_socket, at = list[str](), list[str](), False, 0
    while at < len(words):
        word = words[at]
        at += 1
        name, equals, value = word.partition("=")
        if not word.startswith("-") or word == "-":
            arguments.append(word)
        elif name in syntax.sockets or any(len(option) == 2 and word.startswith(option) for option in syntax.sockets):
            has_socket = True
            at += word in syntax.sockets
        elif equals and name in syntax.options:
            values.append(value)
        elif word in syntax.options or word in syntax.databases:
            (values if word in syntax.options else arguments).extend(words[at : at + 1])
            at += 1
        elif equals and name in syntax.databases:
            arguments.append(value)
        elif (short := _attached(word, syntax)) is not None:
            values.append(short)
        elif word in syntax.valued_names or (not word.startswith("--") and _takes_next(word[1:], syntax.valued)):
            at += 1
    return arguments, values, has_socket


def _attached(word: str, syntax: Client) -> str | None:
    """The address right behind an option of one letter: ``-hdb``."""
    if word.startswith("--"):
        return None
    return next((word[2:] for option in syntax.options if len(option) == 2 and word.startswith(option)), None)


def _takes_next(letters: str, valued: str) -> bool:
    """True if the last letter of a word has its value in the next word: ``-qO``, and not ``-qO-``."""
    first = next((index for index, letter in enumerate(letters) if letter in valued), None)
    return first is not None and first == len(letters) - 1


def _placed(arguments: list[str], syntax: Client) -> Iterator[str]:
    """The hosts among the arguments."""
    match syntax.place:
        case "url":
            # A word without a scheme may be the value of an option that nobody here knows; the last one is the address.
            urls = [word for word in arguments if "://" in word] or arguments[-1:]
            yield from (found for word in urls for found in hosts_of(word))
        case "host":
            yield from (found for word in arguments[:1] for found in hosts_of(word))
        case "host port":
            # The port, or a range of them, comes right behind the host.
            if len(arguments) >= 2 and _PORT.fullmatch(arguments[1]) and not arguments[0].isdecimal():
                yield from hosts_of(arguments[0])
            elif len(arguments) >= 2 and arguments[0] == "0":
                yield ITSELF
        case "server":
            yield from (found for word in arguments if word.startswith("@") for found in hosts_of(word[1:]))
        case "database":
            yield from (
                found
                for word in arguments[:1]
                if re.search(r"[.:/]", word) and not word.endswith(".js")
                for found in hosts_of(word)
            )
        case "conninfo":
            for word in arguments:
                if "://" in word:
                    yield from hosts_of(word)
                else:
                    yield from (found for value in _CONNINFO.findall(word) for found in hosts_of(value))
        case _:
            return
