"""Clients in the command of a probe: curl, wget and grpc_health_probe, where a native handler can take their place."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from probelet.lint.command.shell import program, simple_command
from probelet.spec.text.duration import SECOND, DurationError, parse_duration

PORT_DIGITS_MAX: Final = 5
"""Digits of a port. Python makes no number of thousands of them."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a client waits, in seconds; None: as long as the probe."""

    answer: float | None = None
    """For the answer, or for all of the call."""
    connection: float | None = None
    """For the connection alone."""
    adds_up: bool = False
    """True if the time for the answer begins behind the connection; False if it is that of the whole call."""

    def in_probe(self, timeout: int) -> int | str:
        """The ``timeoutSeconds`` under which a native probe gives the verdicts that the command gave with ``timeout``;
        or why there is none."""
        answer = timeout if self.answer is None else min(self.answer, timeout)
        connection = timeout if self.connection is None else min(self.connection, timeout)
        if connection < answer or (self.adds_up and answer < connection):
            return (
                f"the client waits {connection:g} s for the connection and {answer:g} s for the answer, and a native "
                "probe has one limit for both"
            )
        if answer != int(answer) or answer < 1:
            return f"the client gives up after {answer:g} s, and timeoutSeconds has whole seconds"
        return int(answer)


@dataclass(frozen=True)
class HttpCall:
    """A GET of an HTTP client."""

    scheme: str
    """``HTTP`` or ``HTTPS``."""
    host: str
    port: int
    path: str
    """With the query."""
    headers: tuple[tuple[str, str], ...] = ()
    fails_on_status: bool = True
    """False: any answer is a success, also 500."""
    patience: Patience = Patience()


@dataclass(frozen=True)
class GrpcCall:
    """A health call of grpc_health_probe."""

    host: str
    port: int
    service: str = ""
    patience: Patience = Patience()


@dataclass
class _Options:
    """The options of a command line, as far as they are known."""

    values: list[tuple[str, str]] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)

    def value(self, *names: str) -> str | None:
        """The last value of an option."""
        return next((value for name, value in reversed(self.values) if name in names), None)

    def has(self, *names: str) -> bool:
        """True if one of the options is there."""
        return any(name in names for name, _ in self.values)


# The options that change nothing about what a probe would do, or that a probe can have too. Any other is a reason to
# leave the command alone.
_CURL_FLAGS: Final = frozenset(
    {
        *("f", "s", "S", "k", "L", "g", "4", "v", "q"),
        *("fail", "fail-with-body", "silent", "show-error", "insecure", "location"),
        *("globoff", "ipv4", "no-progress-meter"),
    }
)
_CURL_VALUES: Final = frozenset(
    {
        *("o", "m", "H", "X", "A"),
        *("output", "max-time", "header", "request", "connect-timeout", "user-agent", "noproxy"),
    }
)
_WGET_FLAGS: Final = frozenset(
    {*("q", "S", "nv"), *("quiet", "spider", "no-verbose", "no-check-certificate", "server-response")}
)
_WGET_VALUES: Final = frozenset({*("O", "T", "t", "Y"), *("output-document", "timeout", "tries", "header")})
_GRPC_VALUES: Final = frozenset({"addr", "service", "connect-timeout", "rpc-timeout"})


def http_call(argv: list[str]) -> HttpCall | None:
    """The call of a command that is one GET with curl or wget; None for any other, also one with an option that a probe
    cannot have."""
    words = simple_command(argv)
    match program(words or []):
        case "curl":
            options = _parse(words or [], _CURL_FLAGS, _CURL_VALUES)
            if options is None or options.value("X", "request") not in (None, "GET"):
                return None
            answer, connection = options.value("m", "max-time"), options.value("connect-timeout")
            patience = _patience(answer, connection, _seconds)
            fails = options.has("f", "fail", "fail-with-body")
            return None if patience is None else _call(options, patience, fails_on_status=fails)
        case "wget":
            options = _parse(words or [], _WGET_FLAGS, _WGET_VALUES)
            if options is None:
                return None
            # The limit counts for the connection, and anew for each read.
            limit = options.value("T", "timeout")
            patience = _patience(limit, limit, _seconds, adds_up=True)
            return None if patience is None else _call(options, patience, fails_on_status=True)
        case _:
            return None


def grpc_call(argv: list[str]) -> GrpcCall | None:
    """The call of a command that is grpc_health_probe without TLS; None for any other."""
    words = simple_command(argv)
    if not words or (not program(words).startswith("grpc_health_probe") and program(words) != "grpc-health-probe"):
        return None
    options = _parse([word.replace("--", "-", 1) for word in words], frozenset(), _GRPC_VALUES, single_dash=True)
    if options is None or options.arguments:
        return None
    host, _, port = (options.value("addr") or "").rpartition(":")
    if not port.isdecimal() or len(port) > PORT_DIGITS_MAX:
        return None
    # grpc_health_probe's main.go: both have a default of 1 s.
    answer, connection = options.value("rpc-timeout") or "1s", options.value("connect-timeout") or "1s"
    patience = _patience(answer, connection, _go_seconds, adds_up=True)
    return None if patience is None else GrpcCall(host, int(port), options.value("service") or "", patience)


def _patience(
    answer: str | None, connection: str | None, read: Callable[[str], float | None], *, adds_up: bool = False
) -> Patience | None:
    """The limits of a client; None if one of them is no time."""
    values = [None if text is None else read(text) for text in (answer, connection)]
    if any(text is not None and value is None for text, value in zip((answer, connection), values, strict=True)):
        return None
    # curl and wget have 0 for no limit.
    return Patience(values[0] or None, values[1] or None, adds_up)


def _seconds(text: str) -> float | None:
    return float(text) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) else None


def _go_seconds(text: str) -> float | None:
    """The seconds of a Go duration above 0: with 0 a call of gRPC ends at once."""
    try:
        return (parse_duration(text) / SECOND) or None
    except DurationError:
        return None


def _call(options: _Options, patience: Patience, *, fails_on_status: bool) -> HttpCall | None:
    if len(options.arguments) != 1:
        return None
    address = options.arguments[0]
    try:
        url = urlsplit(address if "://" in address else f"http://{address}")
        port = url.port
    except ValueError:
        return None
    if url.scheme not in ("http", "https") or not url.hostname or url.username is not None or "$" in address:
        return None
    headers = tuple(_headers(options))
    if url.scheme == "https" and not options.has("k", "insecure", "no-check-certificate"):
        # The client verifies the certificate; a probe never does.
        return None
    path = f"{url.path or '/'}{f'?{url.query}' if url.query else ''}"
    default = 443 if url.scheme == "https" else 80
    return HttpCall(url.scheme.upper(), url.hostname, port or default, path, headers, fails_on_status, patience)


def _headers(options: _Options) -> Iterator[tuple[str, str]]:
    for name, value in options.values:
        if name in ("H", "header"):
            key, _, text = value.partition(":")
            yield key.strip(), text.strip()
        elif name in ("A", "user-agent"):
            yield "User-Agent", value


def _parse(
    words: list[str], flags: frozenset[str], valued: frozenset[str], *, single_dash: bool = False
) -> _Options | None:
    """The options of a command line; None if one of them is unknown or lacks its value. ``single_dash``: a long name
    has one dash, as in Go's programs."""
    options, rest = _Options(), iter(words[1:])
    for word in rest:
        if not word.startswith("-") or word == "-":
            options.arguments.append(word)
        elif word.startswith("--") or single_dash:
            name, equals, value = word.lstrip("-").partition("=")
            if name in flags and not equals:
                options.values.append((name, ""))
            elif name in valued:
                found = value if equals else next(rest, None)
                if found is None:
                    return None
                options.values.append((name, found))
            else:
                return None
        elif not _letters(word[1:], flags, valued, rest, options):
            return None
    return options


def _letters(
    letters: str, flags: frozenset[str], valued: frozenset[str], rest: Iterator[str], options: _Options
) -> bool:
    """Reads options of one letter; the last one of a word may have its value behind it: ``-qO-``."""
    if letters in flags and len(letters) > 1:
        # wget's -nv.
        options.values.append((letters, ""))
        return True
    for index, letter in enumerate(letters):
        if letter in valued:
            value = letters[index + 1 :] or next(rest, None)
            if value is None:
                return False
            options.values.append((letter, value))
            return True
        if letter not in flags:
            return False
        options.values.append((letter, ""))
    return True
