"""Random HTTP/1.1 responses: mostly valid, and now and then wrong at any place that a reader parses."""

from collections.abc import Sequence

from tests.handlers.differential.dice import Dice

VERSIONS = ["1.1", "1.1", "1.1", "1.1", "1.0"]
ODD_VERSIONS = ["0.9", "1.2", "2.0", "0.0", "1", "1.10", "1.", "x.1", "1,1", "+1.1"]
CODES = ["200"] * 40 + [
    "500",
    "404",
    "503",
    "204",
    "304",
    "206",
    "299",
    "300",
    "305",
    "399",
    "400",
    "199",
    "999",
    "101",
]
ODD_CODES = ["000", "099", "020", "+20", "-00", "-20", "20", "2000", "2x0", "", "0200", "2\t0", "٢٠٠", "++1", "1e2"]
REDIRECTS = ["301", "302", "303", "307", "308"]
INTERIM = ["100", "102", "103", "199", "101"]
REASONS = [b" OK", b" OK", b" OK", b"", b" ", b" Not Found"]
ODD_REASONS = [b"  ", b" \xe9", b" a\x00b", b" a\rb", b"\tOK", b" :", b" \xff\xfe"]
PROTOCOLS = ["http/", "HTTP", "HTTP /", "ICY ", "", " HTTP/", "\nHTTP/", "HTTPS/"]
ODD_LINE_ENDS = [b"\n", b"\n", b"\n", b"\n", b"\r\r\n", b"\r", b"", b" \r\n", b"\n\r", b"\r\n\r\n"]
NAMES = ["Server", "Date", "X-A", "Content-Type", "Set-Cookie", "Via", "A", "Content-Encoding", "Upgrade"]
NAMES += ["Connection", "Trailer", "Keep-Alive", "Age", "ETag"]
ODD_NAMES = ["", " ", "A ", "A B", "A\t", "A(b", "\xe9", "A\x00", "-", "_", "a:b", "A@", "\x7f", '"', "!"]
ODD_NAMES += ["Content-Length "]
VALUES = [b"x", b"", b"close", b"keep-alive", b"text/plain", b"a, b", b"Upgrade", b"h2c", b"gzip", b"chunked", b"X"]
ODD_VALUES = [b"\x00", b"a\x01b", b"\x7f", b"\xff\xfe", b"a\rb", b"\t", b" ", b"  a  ", b"\x0b", b"\xc2\xa0", b'"']
ODD_VALUES += [b"\x1b[0m"]
LONG_VALUES = [300, 4050, 4096, 5000]
FOLDS = [b"\r\n ", b"\r\n\t", b"\n ", b"\r\n  \t", b"\r\n \r\n ", b"\r\n\x0b"]
LENGTHS = [b"+2", b"-1", b"0x2", b"2, 2", b"", b" ", b"2 2", b"002", b"9223372036854775807", b"9223372036854775808"]
LENGTHS += [b"1_0", b"2;", b"1e1", b"2\t", b"\xb2", b"18446744073709551616", b"-0", b"00", b"0"]
ODD_ENCODINGS = [b"identity", b"gzip, chunked", b"chunked, chunked", b"", b"chunked;a", b" chunked ", b"chunked,"]
ODD_ENCODINGS += [b",chunked", b"\tchunked", b'"chunked"', b"gzip", b"chunked\x00", b"Chunked\r\n "]
# Around the sizes at which a reader changes its behaviour: 0, the 2048 that Go drains, its buffer of 4096, and the
# kubelet's limit of 10240.
SIZES = [0, 1, 2, 3, 5, 16, 100, 511, 512, 513, 2047, 2048, 2049, 4000, 4095, 4096, 4097, 8192, 10_239, 10_240]
SIZES += [10_241, 12_000]
EXTENSIONS = [b";", b";a=b", b'; a="b;c"', b" ", b"\t", b" ;x", b";\xff", b";" + b"e" * 300, b";\n", b";a\rb"]
EXTENSIONS += [b";" + b"e" * 4090]
ODD_CHUNK_SIZES = [b"", b"g", b"-1", b"+1", b"0x1", b" 1", b"1 1", b"f" * 17, b"f" * 16, b"7" + b"f" * 15]
ODD_CHUNK_SIZES += [b"8" + b"0" * 15, b"0" * 16 + b"1", b"0" * 15 + b"1", b"1\x00", b"\xff", b"1_0"]
ODD_CHUNK_SIZES += [b"4" + b"0" * 14 + b"1"]
LAST_CHUNKS = [b"00", b"0;x", b"", b"0 ", b"000000000000000000", b"-0", b" 0", b"0\t;"]
TRAILERS = [b"X: y", b"Content-Length: 3", b"X: y\r\n Z", b"A: " + b"t" * 300]
ODD_TRAILERS = [b"X", b" X: y", b"X: \x01", b"A: " + b"t" * 5000, b": x", b"Transfer-Encoding: chunked"]
ODD_TRAILERS += [b"A: " + b"t" * 4080]


def line(dice: Dice, text: bytes) -> bytes:
    return text + dice.often([b"\r\n"], ODD_LINE_ENDS, 0.06)


def status_line(dice: Dice, codes: Sequence[str]) -> bytes:
    version, code = dice.often(VERSIONS, ODD_VERSIONS, 0.1), dice.often(codes, ODD_CODES, 0.05)
    protocol, gap = dice.often(["HTTP/"], PROTOCOLS, 0.02), dice.often([" "], ["  ", "\t", "", " \t", "   "], 0.03)
    return line(dice, f"{protocol}{version}{gap}{code}".encode() + dice.often(REASONS, ODD_REASONS, 0.1))


def field(dice: Dice, name: str, value: bytes) -> bytes:
    """One header field with its name in any case; now and then its value is folded over several lines."""
    odd = [name + " ", name.swapcase(), name[1:], name + "\t", name.upper()]
    name = dice.often([name, name, name.lower()], odd, 0.04)
    gap = dice.often([b": "], [b":", b":  ", b" : ", b":\t", b"=", b""], 0.06)
    if dice.random() < 0.05 * dice.wildness:
        cut = dice.randrange(len(value) + 1)
        value = value[:cut] + dice.pick(FOLDS) + value[cut:]
    return line(dice, name.encode("latin-1") + gap + value)


def other_fields(dice: Dice) -> list[bytes]:
    found = []
    for _ in range(dice.pick([0, 0, 1, 1, 2, 3, 6])):
        value = dice.often(VALUES, ODD_VALUES, 0.1)
        if dice.random() < 0.02:
            value = b"v" * dice.pick(LONG_VALUES)
        found.append(field(dice, dice.often(NAMES, ODD_NAMES, 0.06), value))
    return found


def body(dice: Dice) -> bytes:
    size = dice.pick(SIZES[:8]) if dice.random() < 0.7 else dice.pick(SIZES)
    return bytes(dice.choices(b"abcdefghij\r\n 0123;:\xff\x00", k=size)) if dice.random() < 0.5 else b"b" * size


def chunk(dice: Dice, data: bytes) -> bytes:
    digits = f"{len(data):{dice.pick(['x', 'x', 'x', 'X', '03x', '08x'])}}".encode()
    size = dice.often([digits], ODD_CHUNK_SIZES, 0.02) + dice.often([b""], EXTENSIONS, 0.06)
    ends = [b"\n", b"\r", b"", b"\r\r\n", b"\n\r\n"]
    return size + dice.often([b"\r\n"], ends, 0.02) + data + dice.often([b"\r\n"], ends, 0.02)


def chunked(dice: Dice, data: bytes) -> bytes:
    """The data in chunks of any size, then the last chunk and perhaps trailers."""
    coded = bytearray()
    most = dice.pick([1, 3, 10, 100, 1000, 4096] if len(data) <= 600 else [500, 3000, 4096, 10_240])
    while data:
        size = dice.randrange(1, most + 1)
        coded += chunk(dice, data[:size])
        data = data[size:]
    coded += dice.often([b"0"], LAST_CHUNKS, 0.1) + dice.often([b"\r\n"], [b"\n", b"", b"\r"], 0.06)
    for _ in range(dice.pick([0, 0, 0, 0, 1, 2])):
        coded += line(dice, dice.often(TRAILERS, ODD_TRAILERS, 0.2))
    return bytes(coded) + dice.often([b"\r\n"], [b"\n", b"", b"\r", b"x\r\n", b"\r\nrest"], 0.1)


def framed(dice: Dice) -> tuple[list[bytes], bytes]:
    """A body and the fields that say where it ends; now and then they are wrong."""
    data = body(dice)
    fields = []
    how = dice.often(["length", "length", "chunked", "chunked", "end"], ["both", "odd"], 0.2)
    if how in ("length", "both"):
        length = max(0, len(data) + dice.often([0], [1, -1, 5, 3000, -100], 0.2))
        fields.append(field(dice, "Content-Length", str(length).encode()))
    if how in ("chunked", "both"):
        fields.append(
            field(dice, "Transfer-Encoding", dice.often([b"chunked", b"chunked", b"CHUNKED"], ODD_ENCODINGS, 0.1))
        )
        data = chunked(dice, data)
    if how == "odd":
        for _ in range(dice.pick([1, 1, 2])):
            length_text = dice.often([b"2", b"3", str(len(data)).encode()], LENGTHS, 0.7)
            fields.append(field(dice, "Content-Length", length_text))
    dice.shuffle(fields)
    return fields, data


def response(dice: Dice, codes: Sequence[str], fields: Sequence[bytes] = ()) -> bytes:
    """A whole response with ``fields`` among its own header fields."""
    head = bytearray()
    while dice.random() < 0.06:
        head += status_line(dice, INTERIM) + b"".join(other_fields(dice)) + line(dice, b"")
    framing, data = framed(dice)
    lines = [*fields, *framing, *other_fields(dice)]
    dice.shuffle(lines)
    return bytes(head) + status_line(dice, codes) + b"".join(lines) + line(dice, b"") + data
