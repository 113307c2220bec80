"""Folders as a test: a folder has few loose files, and docs/dev/architecture.md lists the folders there are."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

import pytest

from tests.support.paths import ROOT
from tests.tidy.test_tidy import name, tracked

LOOSE_FILES_MAX = 16
"""A reader takes in that many names at a glance; with more, the folder has a second law and needs a folder for it."""

LIMITED = re.compile(r"python/probelet|conformance|rust/[\w-]+/src|tests|benches")
# These files are the folder itself: its docstring, its modules, its command, its fixtures.
OF_THE_FOLDER = {"__init__.py", "__main__.py", "conftest.py", "lib.rs", "mod.rs"}

ARCHITECTURE = ROOT / "docs" / "dev" / "architecture.md"
HOUSES = {f"rust/{crate}": f"rust/{crate}/src" for crate in ("bindings", "core", "engine", "golang", "play")}
# Each folder directly below one of these has its line in the house list.
COMPLETE = ("python/probelet", "rust/engine/src", "rust/golang/src", "rust/play/src", "tests")


def crowded(files: Iterable[str]) -> dict[str, int]:
    """The folders with too many loose files, and how many they have."""
    loose = Counter(
        path.rpartition("/")[0]
        for path in files
        if LIMITED.match(path) and path.rpartition("/")[2] not in OF_THE_FOLDER
    )
    return {folder: count for folder, count in loose.items() if count > LOOSE_FILES_MAX}


def listed(page: str) -> Iterator[str]:
    """The paths that the house list names: the first column of each line, below the folder without an indent."""
    block = re.search(r"^## The house\n+```\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert block is not None, "the page has no house list"
    house = ""
    for line in block[1].splitlines():
        indent, first = re.fullmatch(r"( *)(.*?)(?:\s{2,}.*|\s*)", line).groups()  # type: ignore[union-attr]
        if not indent:
            house = HOUSES.get(first.split()[0], first.split()[0].rstrip("/"))
            yield from (HOUSES.get(part, part.rstrip("/")) for part in first.split())
        elif len(indent) == 2:
            yield from (f"{house}/{part.rstrip('/')}" for part in first.split())


def exists(path: str) -> bool:
    return any((ROOT / f"{path}{suffix}").exists() for suffix in ("", ".rs", ".py"))


def test_no_folder_has_too_many_loose_files() -> None:
    assert crowded(name(path) for path in tracked((".py", ".pyi", ".rs", ".c", ".go"))) == {}


@pytest.mark.parametrize("folder", ["python/probelet/node", "rust/engine/src/live", "benches"])
def test_a_crowded_folder_is_found(folder: str) -> None:
    files = [f"{folder}/{number}.py" for number in range(LOOSE_FILES_MAX)]
    assert crowded([*files, f"{folder}/__init__.py", f"{folder}/below/one.py"]) == {}
    assert crowded([*files, f"{folder}/one_more.py"]) == {folder: LOOSE_FILES_MAX + 1}


def test_the_house_list_names_only_what_exists() -> None:
    paths = list(listed(ARCHITECTURE.read_text()))
    assert len(paths) > 50
    assert [path for path in paths if not exists(path)] == []


def test_the_house_list_names_every_folder() -> None:
    paths = {*listed(ARCHITECTURE.read_text())}
    folders = {name(path.parent) for path in tracked((".py", ".rs", ".json"))}
    below = {
        "/".join(folder.split("/")[: house.count("/") + 2])
        for house in COMPLETE
        for folder in folders
        if folder.startswith(f"{house}/")
    }
    assert len(below) > 30
    assert sorted(below - paths) == []
