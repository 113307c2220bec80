"""The documentation is run: every command and code block of README and docs does what it says.

- ``console``: the lines that begin with ``$ `` are one shell session, run from the repository's root with probelet on
  the PATH and a state directory of its own. Each must exit 0, or as a trailing ``# exit N`` says. The output shown must
  come in that order: numbers may differ, white space does not count, a line ``...`` stands for any others.
- ``python``: a program, run from the root. ``yaml`` and ``json`` must parse.
- A block after ``<!-- not run: reason -->`` is left alone. Other languages are text.
"""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.support.paths import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
BLOCK_SECONDS = 90
"""For one block; an example that runs pods for a while is the longest."""

FENCE = re.compile(
    r"^(?P<fence>```+)(?P<language>[\w-]*)[^\n]*\n(?P<text>.*?)^(?P=fence)\s*$", re.MULTILINE | re.DOTALL
)
NOT_RUN = re.compile(r"<!-- not run: (?P<reason>\S.*?) -->\s*$")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
EXIT = re.compile(r"\s+# exit (?P<code>\d+)$")


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@dataclass(frozen=True)
class Command:
    shell: str
    exit_code: int
    shown: list[str]


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page that are to be run or parsed."""
    text = page.read_text()
    for match in FENCE.finditer(text):
        if not NOT_RUN.search(text[: match.start()]):
            yield Block(page, text.count("\n", 0, match.start()) + 1, match["language"], match["text"])


def commands(text: str) -> list[Command]:
    found: list[Command] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            expected = EXIT.search(line)
            shell = EXIT.sub("", line[2:])
            found.append(Command(shell, int(expected["code"]) if expected else 0, []))
        elif found:
            found[-1].shown.append(line)
    return found


def of_language(*languages: str) -> list[Block]:
    return [block for page in PAGES for block in blocks(page) if block.language in languages]


def environment(state: Path) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "XDG_RUNTIME_DIR": str(state), "NO_COLOR": "1", "COLUMNS": "120"}


def run(argv: list[str], state: Path) -> str:
    """What a block printed. Whatever it left in the background ends with it."""
    output = state / "output"
    with output.open("wb") as file:
        process = subprocess.Popen(
            argv, cwd=ROOT, env=environment(state), stdout=file, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            process.wait(BLOCK_SECONDS)
        finally:
            stop(process)
    return output.read_text()


def stop(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    process.wait()


def shape(line: str) -> str:
    """A line with its identifiers, numbers and white space forgotten."""
    return " ".join(re.sub(r"\d+", "0", re.sub(r"\b[0-9a-f]{16,}\b", "0", line)).split())


def missing(shown: list[str], printed: str) -> list[str]:
    """The shown lines that were not printed, in order."""
    lines = iter([shape(line) for line in printed.splitlines()])
    return [line for line in shown if shape(line) not in ("", "...") and shape(line) not in lines]


@pytest.mark.e2e
@pytest.mark.timeout(BLOCK_SECONDS + 30)
@pytest.mark.parametrize("block", of_language("console"), ids=str)
def test_a_console_session_does_what_it_shows(block: Block, tmp_path: Path) -> None:
    session = commands(block.text)
    mark = "@@ end of command"
    script = "\n".join(f"{command.shell}\nprintf '\\n{mark} %d\\n' $?" for command in session)
    printed = run(["sh", "-c", script], tmp_path).split(f"\n{mark} ")
    assert len(printed) == len(session) + 1, printed[-1]
    for number, command in enumerate(session):
        text = printed[number] if number == 0 else printed[number].partition("\n")[2]
        code = int(printed[number + 1].partition("\n")[0])
        assert code == command.exit_code, f"$ {command.shell}\n{text}"
        assert missing(command.shown, text) == [], f"$ {command.shell}\n{text}"


@pytest.mark.e2e
@pytest.mark.timeout(BLOCK_SECONDS + 30)
@pytest.mark.parametrize("block", of_language("python"), ids=str)
def test_a_python_block_runs(block: Block, tmp_path: Path) -> None:
    program = tmp_path / "block.py"
    program.write_text(block.text)
    result = subprocess.run(
        [sys.executable, "-W", "error", program], cwd=ROOT, env=environment(tmp_path), capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("block", of_language("yaml", "json"), ids=str)
def test_a_block_of_data_parses(block: Block) -> None:
    if block.language == "json":
        json.loads(block.text)
    else:
        list(yaml.safe_load_all(block.text))


def anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def broken_links(page: Path) -> list[str]:
    text = FENCE.sub("", page.read_text())
    broken = []
    for match in LINK.finditer(text):
        target, _, fragment = match["target"].partition("#")
        if re.match(r"[a-z]+:", target):
            continue  # another site's page is not ours to keep
        file = (page.parent / target).resolve() if target else page
        headings = (
            re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE) if file.suffix == ".md" and file.exists() else []
        )
        if not file.exists() or (fragment and fragment not in map(anchor, headings)):
            broken.append(match["target"])
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert broken_links(page) == []


def missing_paths(page: Path) -> list[str]:
    """Paths of the project between backticks that do not exist. Pages name files so that readers can open them."""
    tops = "|".join(
        ("benches", "conformance", "deploy", "docs", "examples", "fuzz", "proto", "python", "rust", "tests", "tools")
    )
    named = re.findall(rf"`((?:{tops})/[\w./-]*)(?:::\w+)?`", FENCE.sub("", page.read_text()))
    return [path for path in named if not (ROOT / path).exists()]


def test_the_files_that_contributors_are_sent_to_exist() -> None:
    assert missing_paths(ROOT / "CONTRIBUTING.md") == []


def test_a_missing_file_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("`rust/core` `python/probelet/gone.py` `rust/core/Cargo.toml::x` `a/b`\n")
    assert missing_paths(page) == ["python/probelet/gone.py"]


def test_the_index_lists_every_page_once() -> None:
    index = ROOT / "docs/README.md"
    listed = [match["target"] for match in LINK.finditer(index.read_text())]
    pages = [page.relative_to(index.parent).as_posix() for page in (ROOT / "docs").glob("**/*.md") if page != index]
    # The rules of the linter have a list of their own.
    pages = [page for page in pages if not page.startswith("lint/P")]
    assert sorted(target for target in listed if not target.startswith("../")) == sorted(pages)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_fence_is_closed(page: Path) -> None:
    assert "```" not in FENCE.sub("", page.read_text())


def test_a_wrong_output_is_found() -> None:
    assert missing(["pod  12 Ready"], "pod 7 Ready\n") == []
    assert missing(["...", "b 1", "a"], "a\nb 2\n") == ["a"]


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One Heading\n[a](#one-heading) [b](#two) [c](gone.md) [d](https://example.org/x)\n")
    assert broken_links(page) == ["#two", "gone.md"]
