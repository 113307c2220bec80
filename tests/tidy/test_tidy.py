"""Style as a test: sizes, names and words that review should not have to look for."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.paths import ROOT

FOLDERS = ("benches", "conformance", "deploy", "docs", "examples", "proto", "python", "rust", "tests", "tools", "fuzz")
SOURCES = (".py", ".pyi", ".rs", ".c", ".proto", ".sh")
TEXTS = (*SOURCES, ".md", ".toml", ".yaml", ".yml", ".json", "")
GENERATED = re.compile(r"_pb2(_grpc)?\.pyi?$")

FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70

# A path here may be longer than the limit, for the reason beside it.
LONG_FILES = {
    "proto/runtime/v1/api.proto": "one interface definition, as long as the part of CRI v1 that is spoken",
    "python/probelet/_rust/__init__.pyi": "the stub of one module is one file, and it has every text that `help` shows",
}
LONG_FUNCTIONS: dict[str, str] = {}

# Kubernetes has a word for each of these: periodSeconds, failureThreshold, run, probe.
BANNED_WORDS = {"interval", "intervals", "retries", "checks", "healthcheck", "healthchecks"}
# Identifiers that may hold a banned word, with the paths they may stand in: the token bucket's refill time, and a field
# of the kernel's itimerspec, and one of the KubeletConfiguration.
ALLOWED_IDENTIFIERS = {
    "interval": re.compile(r"bucket"),
    "containerlogmonitorinterval": re.compile(r"^tests/unit/config/"),
    "container_log_monitor_interval": re.compile(r"/config/|/daemon/run\.py$"),
    "it_interval": re.compile(r"/alarm\.rs$"),
    "interval_ns": re.compile(r"bucket|_rust/__init__\.pyi$|^rust/bindings/|^tests/|^benches/|^python/"),
}
BANNED_FILE_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "base2"}


@cache
def text_of(path: Path) -> str:
    """The text of a file, which several tests read."""
    return path.read_text()


@cache
def tracked(suffixes: tuple[str, ...]) -> list[Path]:
    """Every file of the project with one of the suffixes, without what a build or a generator made."""
    inside = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    files = [path for path in [*ROOT.iterdir(), *inside] if path.is_file() and path.suffix in suffixes]
    return sorted(
        path for path in files if not {"__pycache__", "corpus"} & {*path.parts} and not GENERATED.search(path.name)
    )


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _nodes(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a tree at any depth; a function is never in an expression."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, field, ()):
            if isinstance(child, ast.stmt):
                yield child
            yield from _nodes(child)


def python_functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in _nodes(ast.parse(text_of(path))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            yield node.name, node.end_lineno - node.lineno + 1


def braced_functions(path: Path, opening: re.Pattern[str]) -> Iterator[tuple[str, int]]:
    """Functions of formatted Rust or C: one ends at the first brace in the column where its signature began."""
    lines = text_of(path).splitlines()
    for start, line in enumerate(lines):
        if match := opening.match(line):
            closing = match["indent"] + "}"
            for end in range(start, len(lines)):
                if lines[end].startswith(closing) or (end == start and line.rstrip().endswith((";", "}"))):
                    yield match["name"], end - start + 1
                    break


RUST_FUNCTION = re.compile(r"(?P<indent>\s*)(?:pub(?:\([a-z]+\))? )?(?:const )?(?:async )?(?:unsafe )?fn (?P<name>\w+)")
C_FUNCTION = re.compile(r"(?P<indent>)(?:static |const |struct )*\w+ \**(?P<name>\w+)\([^;]*$")


def functions(path: Path) -> Iterator[tuple[str, int]]:
    if path.suffix == ".py":
        return python_functions(path)
    return braced_functions(path, RUST_FUNCTION if path.suffix == ".rs" else C_FUNCTION)


def identifiers(path: Path) -> Iterator[tuple[int, str]]:
    """Names in the code, without comments and texts. One scanner serves Python, Rust and C."""
    code = text_of(path)
    hidden = re.compile(r'"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*[\s\S]*?\*/|(?<!\S)#[^\n]*')
    code = hidden.sub(lambda match: "\n" * match.group().count("\n"), code)
    for number, line in enumerate(code.splitlines(), start=1):
        for word in re.findall(r"[A-Za-z_]\w*", line):
            yield number, word


@cache
def words(identifier: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", identifier)}


def test_no_file_is_longer_than_the_limit() -> None:
    lengths = {name(path): len(text_of(path).splitlines()) for path in tracked(SOURCES)}
    assert {path: n for path, n in lengths.items() if n > FILE_LINES_MAX and path not in LONG_FILES} == {}


def test_no_function_is_longer_than_the_limit() -> None:
    long = {
        f"{name(path)}:{function}": lines
        for path in tracked((".py", ".rs", ".c"))
        for function, lines in functions(path)
        if lines > FUNCTION_LINES_MAX
    }
    assert {key: lines for key, lines in long.items() if key not in LONG_FUNCTIONS} == {}


@pytest.mark.parametrize(
    "text",
    [
        "fn one() {\n" + "    x;\n" * 80 + "}\n",
        "    pub(crate) async fn two(\n        a: u8,\n    ) {\n" + "\n" * 80 + "    }\n",
    ],
)
def test_the_scanner_sees_a_long_rust_function(text: str, tmp_path: Path) -> None:
    file = tmp_path / "long.rs"
    file.write_text(text)
    assert [lines > FUNCTION_LINES_MAX for _, lines in functions(file)] == [True]


def test_nothing_is_left_to_do_in_a_comment() -> None:
    marks = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) + r")\b")
    found = [
        f"{name(path)}:{number}"
        for path in tracked(TEXTS)
        for number, line in enumerate(text_of(path).splitlines(), start=1)
        if marks.search(line)
    ]
    assert found == []


def test_identifiers_use_the_words_of_the_field() -> None:
    def allowed(path: Path, identifier: str) -> bool:
        where = ALLOWED_IDENTIFIERS.get(identifier.lower())
        return where is not None and bool(where.search(name(path)))

    found = [
        f"{name(path)}:{number}: {identifier}"
        for path in tracked((".py", ".pyi", ".rs", ".c"))
        for number, identifier in identifiers(path)
        if words(identifier) & BANNED_WORDS and not allowed(path, identifier)
    ]
    assert found == []


def test_no_path_of_one_machine_is_in_the_project() -> None:
    machine = re.compile(re.escape(str(ROOT)) + r"\b|/(?:home|Users)/[a-z]+|/root/")
    found = [
        f"{name(path)}:{number}"
        for path in tracked(TEXTS)
        for number, line in enumerate(text_of(path).splitlines(), start=1)
        if machine.search(line) and path != Path(__file__)
    ]
    assert found == []


def test_files_are_named_after_the_noun_they_define() -> None:
    assert [name(path) for path in tracked(SOURCES) if path.stem in BANNED_FILE_NAMES] == []


def test_no_line_ends_in_white_space() -> None:
    found = [
        f"{name(path)}:{number}"
        for path in tracked(SOURCES)
        for number, line in enumerate(text_of(path).splitlines(), start=1)
        if line != line.rstrip()
    ]
    assert found == []
