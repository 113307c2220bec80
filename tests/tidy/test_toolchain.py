"""The pinned Rust, the oldest Rust, and the one place of the version."""

import json
import re
import subprocess
import tomllib

import pytest

from tests.support.paths import ROOT
from tests.tidy.test_tidy import TEXTS, name, tracked

WORKSPACE = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
OLDEST: str = WORKSPACE["package"]["rust-version"]

# Files that hold the same digits with another meaning.
OTHER_VERSIONS = {
    "deploy/chart/Chart.yaml": "helm reads it; tests/unit/deploy holds it to the workspace",
    "deploy/kustomize/base/kustomization.yaml": "the tag of the image, held to the workspace likewise",
    "deploy/kustomize/components/enhanced-liveness/kustomization.yaml": "the same tag",
    "conformance/pyproject.toml": "its own version and that of its probelet, which test_locks compares",
    "docs/lint.md": "the tag in two examples, held to the workspace below",
    "docs/reference/configuration.md": "since which version there has been a field; a later version keeps it",
    "docs/versions.md": "since which version a name is deprecated, and examples of versions",
}


def parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def newer_than(oldest: str, packages: dict[str, str | None]) -> dict[str, str]:
    """The packages whose own oldest Rust is newer than ours."""
    return {package: asked for package, asked in packages.items() if asked and parts(asked)[:2] > parts(oldest)[:2]}


@pytest.fixture(scope="module")
def oldest_of_crates() -> dict[str, str | None]:
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {package["name"]: package["rust_version"] for package in json.loads(answer.stdout)["packages"]}


def test_no_dependency_needs_a_newer_rust_than_the_oldest_promised(oldest_of_crates: dict[str, str | None]) -> None:
    assert newer_than(OLDEST, oldest_of_crates) == {}


def test_a_dependency_that_needs_a_newer_rust_is_found() -> None:
    assert newer_than("1.88", {"a": "1.88.1", "b": None, "c": "1.9", "d": "1.89"}) == {"d": "1.89"}


def compiled(*packages: str) -> set[str]:
    """Each crate that is compiled for these packages, with its features."""
    chosen = [word for package in packages for word in ("-p", package)]
    command = ["cargo", "tree", "--locked", "--offline", "--edges", "normal,build", "--prefix", "none"]
    answer = subprocess.run(
        [*command, "--format", "{p} {f}", *chosen], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {line.removesuffix(" (*)") for line in answer.stdout.splitlines() if line}


def test_what_is_compiled_beside_the_extension_has_its_features() -> None:
    # With other features cargo compiles a crate and everything that needs it a second time: minutes of a cold build.
    [flags] = re.findall(r"^LIBRARIES = (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    more = compiled(*re.findall(r"-p (\S+)", flags)) - compiled("probelet-bindings")
    assert {line.split()[0] for line in more} == {"probelet-target"}


def test_the_pages_name_the_oldest_rust() -> None:
    pages = ("README.md", "docs/install.md")
    named = {page: re.findall(r"cargo (\d+\.\d+)", (ROOT / page).read_text()) for page in pages}
    assert named == {page: [OLDEST] for page in pages}


def test_the_pinned_rust_can_build_what_the_oldest_can() -> None:
    pinned = tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]["channel"]
    assert parts(pinned) >= parts(OLDEST)


def test_every_member_takes_version_and_oldest_rust_from_the_workspace() -> None:
    for member in WORKSPACE["members"]:
        package = tomllib.loads((ROOT / member / "Cargo.toml").read_text())["package"]
        assert (package["version"], package["rust-version"]) == ({"workspace": True}, {"workspace": True}), member


def test_only_the_workspace_has_the_version() -> None:
    version = re.compile(rf"(?<![\w.-]){re.escape(WORKSPACE['package']['version'])}(?![\w.])")
    kept = {"Cargo.toml", "CHANGELOG.md", *OTHER_VERSIONS}
    files = [path for path in tracked(TEXTS) if name(path) not in kept]
    assert [name(path) for path in files if version.search(path.read_text())] == []


COPIES = {
    "deploy/chart/Chart.yaml": (r"^(?:version|appVersion): (\S+)$", 2),
    "deploy/kustomize/base/kustomization.yaml": (r"newTag: (\S+)$", 1),
    "deploy/kustomize/components/enhanced-liveness/kustomization.yaml": (r"newTag: (\S+)$", 1),
    "conformance/pyproject.toml": (r'^version = "(.+)"$|probelet==([\w.]+)', 2),
    "fuzz/libfuzzer/Cargo.lock": (r'^name = "probelet-(?!libfuzzer)\w+"\nversion = "(.+)"$', 5),
    "docs/lint.md": (r"(?:rev: |probelet@)v(\d+\.\d+\.\d+)$", 2),
}
"""Where a program or a reader needs the version again, and how often it stands there."""


def test_each_copy_of_the_version_and_the_newest_section_of_the_changelog_are_that_of_the_workspace() -> None:
    version = WORKSPACE["package"]["version"]
    found = {
        path: ["".join(match.groups("")) for match in re.finditer(pattern, (ROOT / path).read_text(), re.MULTILINE)]
        for path, (pattern, _) in COPIES.items()
    }
    assert found == {path: [version] * count for path, (_, count) in COPIES.items()}
    sections = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert sections[0] == "Unreleased"
    assert re.fullmatch(rf"{re.escape(version)} - \d{{4}}-\d\d-\d\d", sections[1])
