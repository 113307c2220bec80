"""Every file of the repository stands where its kind belongs: no left-over of a program is committed by mistake."""

import re
import shutil
import subprocess
from pathlib import PurePosixPath

import pytest

from tests.support.paths import GENERATED, RELEASES, ROOT, TRACES

ROOT_FILES = {
    *(
        ".gitignore",
        ".pre-commit-hooks.yaml",
        "action.yml",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "Makefile",
        "README.md",
        "SECURITY.md",
    ),
    *("Cargo.lock", "Cargo.toml", "rust-toolchain.toml", "rustfmt.toml"),
    *("pyproject.toml", "requirements.lock"),
}
"""A new file in the root is a decision: it is added here in the same commit."""

SUFFIXES = {
    ".ci": {""},
    ".github": {".yml"},
    "benches": {".c", ".go", ".json", ".md", ".mod", ".py", ".rs", ".sum", ".svg", ".toml"},
    # Without a suffix: a link to the licence, which its wheel has too.
    "conformance": {"", ".md", ".pem", ".py", ".toml", ".typed"},
    # Without a suffix: links of the chart to the folders whose objects it renders too.
    "deploy": {"", ".dockerignore", ".json", ".md", ".service", ".tpl", ".yaml"},
    "docs": {".md", ".svg"},
    "examples": {".md", ".py", ".segment", ".sh", ".yaml"},
    # The inputs of a corpus have no suffix, or that of the format they are in.
    "fuzz": {"", ".json", ".lock", ".py", ".rs", ".toml", ".yaml"},
    "proto": {".proto", ".sh"},
    # The YAML files are the built-in scenarios.
    "python": {".pem", ".py", ".pyi", ".typed", ".yaml"},
    "rust": {".md", ".pem", ".rs", ".toml"},
    "tools": {".py", ".toml"},
    "tests": {".c", ".go", ".json", ".jsonl", ".md", ".mod", ".pem", ".py", ".sh", ".sum", ".yaml"},
}
"""What each top folder holds, by suffix."""

PLAIN_NAME = re.compile(r"[A-Za-z0-9._-]+")


def belongs(path: PurePosixPath) -> bool:
    if not all(PLAIN_NAME.fullmatch(part) for part in path.parts):
        return False
    if len(path.parts) == 1:
        return path.name in ROOT_FILES
    return path.suffix in SUFFIXES.get(path.parts[0], ())


def test_every_tracked_file_belongs_somewhere() -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a checkout: git does not say which files are tracked")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [PurePosixPath(name) for name in listed.split("\0") if name]
    assert [str(path) for path in paths if not belongs(path)] == []


@pytest.mark.parametrize("name", ["%s", "notes.txt", "rust/core/src/lib.rs.orig", "docs/out.png", "stray/a.py"])
def test_a_stray_file_is_found(name: str) -> None:
    assert not belongs(PurePosixPath(name))


def test_a_recording_is_one_line() -> None:
    recordings = [*TRACES.glob("*/*.json"), *GENERATED.glob("*.json"), *RELEASES.glob("*/*.json")]
    assert recordings
    assert [str(path) for path in recordings if path.read_text().count("\n") != 1] == []
