"""Nearly valid manifests: example files that a seeded generator changes in a few places.

The seed and the number alone decide an input, so one input can be repeated without those before it.
"""

import random
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = [path for path in sorted(ROOT.glob("examples/*/*.yaml")) if path.name != "probelet.yaml"]
"""Manifests alone: a ``probelet.yaml`` beside them is a configuration."""
MANIFESTS = [*EXAMPLES, *sorted(Path(__file__).parent.glob("seeds/*"))]

# Values that readers of YAML, JSON and Go understand differently.
VALUES = """
~ null yes No on true 0 -1 1 80 0x1F 010 0o17 0b1 1_000 1e3 1e400 1.5 .5 .inf .nan 2147483648 -2147483649
9223372036854775808 99999999999999999999999999999999999999999999999999999999999999999999999999 2024-01-01 1:30
"" '' "80" "\\u0000" "\\ud800" "\\U0001f600" [] {} [1] {a:\\ 1} [[[[[[[[ }}}} &a *a <<: !!str !!int !!binary !x
| > ? - -- --- ... % @ ` # : "\\x1b[31m" HTTP HTTPS http Always Never OnFailure Restart In NotIn 10s -1.5h 1d
spec.containers[0] a.b/c _ App app app-1 $(A) $$(A) $( \u202e \u00a0 \u2028 \ufeff \u0661
""".replace("\\ ", "\0").split()
CHARACTERS = "\t\r\n \"'#&*!|>%@`{}[],:?-\\\0\x07\x1b\x7f\x85\u2028\ufeff\ufffe\U0010ffff"
CHANGES_MAX = 6
# The repetitions in a value or a nesting that exceeds every bound of the reader.
LONG = 20_000

Lines: TypeAlias = list[str]
Change: TypeAlias = Callable[[random.Random, Lines], None]


def mutated(seed: int, number: int) -> bytes:
    """The manifest file with this number in the sequence of ``seed``."""
    chance = random.Random(f"{seed}:{number}")
    lines = chance.choice(MANIFESTS).read_text().splitlines()
    for _ in range(chance.randint(1, CHANGES_MAX)):
        chance.choice(CHANGES)(chance, lines)
    data = "\n".join(lines).encode(errors="surrogatepass")
    if chance.random() < 0.05 and data:
        place = chance.randrange(len(data))
        data = data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :]
    if chance.random() < 0.05:
        data = data[: chance.randrange(len(data) + 1)]
    return data


def _place(chance: random.Random, lines: Lines) -> int:
    if not lines:
        lines.append("")
    return chance.randrange(len(lines))


def _value(chance: random.Random) -> str:
    return chance.choice(VALUES).replace("\0", " ")


def drop(chance: random.Random, lines: Lines) -> None:
    del lines[_place(chance, lines)]


def repeat(chance: random.Random, lines: Lines) -> None:
    start, end = sorted((_place(chance, lines), _place(chance, lines)))
    lines[end:end] = lines[start : end + 1]


def swap(chance: random.Random, lines: Lines) -> None:
    one, other = _place(chance, lines), _place(chance, lines)
    lines[one], lines[other] = lines[other], lines[one]


def indent(chance: random.Random, lines: Lines) -> None:
    place = _place(chance, lines)
    lines[place] = " " * chance.randint(0, 8) + lines[place].lstrip()


def set_value(chance: random.Random, lines: Lines) -> None:
    place = _place(chance, lines)
    key, colon, _ = lines[place].partition(":")
    lines[place] = f"{key}{colon} {_value(chance)}"


def set_key(chance: random.Random, lines: Lines) -> None:
    place = _place(chance, lines)
    key, colon, rest = lines[place].partition(":")
    blanks = key[: len(key) - len(key.lstrip(" -"))]
    lines[place] = f"{blanks}{_value(chance)}{colon}{rest}"


def insert(chance: random.Random, lines: Lines) -> None:
    place = _place(chance, lines)
    at = chance.randint(0, len(lines[place]))
    lines[place] = lines[place][:at] + chance.choice([chance.choice(CHARACTERS), _value(chance)]) + lines[place][at:]


def cut(chance: random.Random, lines: Lines) -> None:
    place = _place(chance, lines)
    start, end = sorted(chance.randint(0, len(lines[place])) for _ in range(2))
    lines[place] = lines[place][:start] + lines[place][end:]


def add_field(chance: random.Random, lines: Lines) -> None:
    place = _place(chance, lines)
    blanks = lines[place][: len(lines[place]) - len(lines[place].lstrip(" -"))].replace("-", " ")
    lines.insert(place + 1, f"{blanks}{_value(chance)}: {_value(chance)}")


def lengthen(chance: random.Random, lines: Lines) -> None:
    place = _place(chance, lines)
    key, colon, _ = lines[place].partition(":")
    lines[place] = f"{key}{colon} " + chance.choice(["x", "9", "[", "{a: ", "\U0001f600"]) * LONG


def anchor(chance: random.Random, lines: Lines) -> None:
    one, other = _place(chance, lines), _place(chance, lines)
    lines[one] = lines[one].replace(": ", ": &a ", 1)
    lines[other] = lines[other].partition(":")[0] + chance.choice([": *a", ": {<<: *a}", ": [*a, *a, *a, *a]"])


def another_document(chance: random.Random, lines: Lines) -> None:
    lines.append("---")
    lines.extend(chance.choice(MANIFESTS).read_text().splitlines())


CHANGES: list[Change] = [
    add_field,
    anchor,
    another_document,
    cut,
    drop,
    indent,
    insert,
    lengthen,
    repeat,
    set_key,
    set_value,
    swap,
]
