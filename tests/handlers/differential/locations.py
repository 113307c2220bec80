"""Random paths, hosts, header fields and Locations, to try the URL parsers."""

from tests.handlers.differential.dice import Dice
from tests.handlers.differential.grammar import field

HERE = "http://127.0.0.1:{PORT}"
LOCATIONS = ["/hop", "hop", "/hop?a=b", "?q", "#f", "", ".", "..", "./", "/a/../b", "../../x", "/./a//b", "*", "/a:b"]
LOCATIONS += [f"{HERE}/x", f"{HERE}", f"{HERE}/", f"{HERE}?a", f"{HERE}#f", "HTTP://127.0.0.1:{PORT}/"]
LOCATIONS += ["//127.0.0.1:{PORT}/x", "http://127.0.0.1:{PORT2}/", "http://127.0.0.1:{CLOSED}/"]
LOCATIONS += ["http://u:p@127.0.0.1:{PORT}/", "http:/x", "http:x", "http:///x", "http://localhost:{PORT}/"]
LOCATIONS += ["http://LOCALHOST:{PORT}/", "http://127.1:{PORT}/", "//", "///x", "https://127.0.0.1:{PORT}/"]
LOCATIONS += ["ftp://127.0.0.1/", "mailto:x", "file:///x", "http://127.0.0.1:{PORT}x/", ":"]
LOCATIONS += ["http://127.0.0.1:99999/", "http://127.0.0.1:/", "/%41%2f", "/a b", "/é", "http://%31:80/", "a:b"]
LOCATIONS += ["1:2", "http://127.0.0.1%2e:{PORT}/", "http://[127.0.0.1]:{PORT}/", "http://127.0.0.1:{PORT}\\x"]
LOCATIONS += ["////x", "/%zz", "http://[::1]:{PORT}/", "http://u@127.0.0.1:{PORT}/", "http://:@127.0.0.1:{PORT}/"]
LOCATIONS += ["http://u%40:%3a@127.0.0.1:{PORT}/"]
TOKENS = ["/", "/", "a", "b", "..", ".", "%2f", "%2F", "%", "%zz", "%41", "%C3%A9", "%00", "?", "#", ":", "//", "@"]
TOKENS += ["[", "]", ";", "&", "=", "+", " ", "é", "日", "\x7f", "\t", "|", "^", "`", "{", "}", "<", ">", '"', "'"]
TOKENS += ["(", ")", "*", "!", "$", ",", "~", "\\", "127.0.0.1", "{PORT}", "http:", "%25", "%3a", "-", "_", "\u200b"]
TOKENS += ["\x01", "%e9", "%20", "%5b", "0", "u:p@", "\u0301", "\U0001f600", "\ufffd"]
# Looking up any of these asks no name server.
HOSTS = ["127.0.0.1", "localhost", "LOCALHOST", "::1", "[::1]", "::ffff:127.0.0.1", "::ffff:7f00:1"]
HOSTS += ["a..b", "127.0.0.1%", "127.0.0.1/x", "u@127.0.0.1", "127.0.0.1?", "127.0.0.1#", "a b", "%zz"]
HOSTS += ["127.0.0.1%41", "::1%25lo", "::1%lo", ":", "[", "127.0.0.1:80", "é.onion", "É.ONION", "日本.onion"]
HOSTS += ["xn--é.onion", ".onion", "-a", "a-.onion"]
NAMES = ["X-A", "x-b", "Accept", "accept", "User-Agent", "Host", "HOST", "Connection", "Content-Length", "Referer"]
NAMES += ["Trailer", "Authorization", "Cookie", "Accept-Encoding", "Content-Type", "Upgrade", "Expect", "TE", "Date"]
NAMES += ["Transfer-Encoding", "Content-Encoding", "Content-Location"]
ODD_NAMES = ["", "X A", "X\n", "é", "X:", "X_Y", "X.y", "x--y", "-", "1", "X\x00"]
VALUES = ["x", "", "close", "keep-alive", "Upgrade", "a, b", "text/html", "example.com", "EXAMPLE.com:80", "é", "5"]
VALUES += [" a ", "chunked", "100-continue", "websocket", "close, x", "x close"]
ODD_VALUES = ["a\nb", "a\r", "\x00", "\t", "\x7f", "[::1]", "[::1%25lo]:1", "a b", "a/b", "bücher.example:80", "u@h"]
ODD_VALUES += ["%41", "日", '"', "xn--a.é", "É.example", "é:é", "[é]:80", "a\u3002é", "\u00adé", "xn--\u00e9"]
ODD_VALUES += ["\ufeff", "ß.example"]


def tokens(dice: Dice, most: int) -> str:
    return "".join(dice.pick(TOKENS) for _ in range(dice.randrange(most + 1)))


def location(dice: Dice) -> bytes:
    """A Location field."""
    target = dice.pick(LOCATIONS)
    if dice.random() < 0.25:
        target = dice.pick([HERE, "", "/", "//127.0.0.1:{PORT}", "http:", "http://"]) + tokens(dice, 6)
    value = target.encode()
    return field(dice, "Location", dice.often([value], [value + b"\xff", b"\xe9" + value], 0.1))


def path(dice: Dice) -> str:
    return dice.pick(["/", "/", "/", "", "/a", "?", "//x/", "//u:p@x/", "http://o", "path", "a:"]) + tokens(dice, 6)


def host(dice: Dice) -> str:
    return dice.pick(HOSTS)


def headers(dice: Dice) -> tuple[tuple[str, str], ...]:
    """Header fields, at most one of them odd: Go's random map order decides which of two bad fields its error names."""
    fields = [(dice.pick(NAMES), dice.pick(VALUES)) for _ in range(dice.pick([0, 1, 1, 2, 3, 5]))]
    if fields and dice.random() < 0.2:
        name, value = fields.pop()
        fields.append((dice.pick(ODD_NAMES), value) if dice.random() < 0.3 else (name, dice.pick(ODD_VALUES)))
    return tuple(fields)
