"""requirements.lock is what pyproject.toml asks for, with hashes, and is what the tests run with."""

import re
import tomllib
from importlib.metadata import version

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.paths import ROOT
from tools.audit.packages import pinned_version, pins

LOCK = ROOT / "requirements.lock"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CONFORMANCE = tomllib.loads((ROOT / "conformance" / "pyproject.toml").read_text())
REFRESH = "run make lock and commit requirements.lock"


def asked() -> list[Requirement]:
    """Every direct requirement in pyproject.toml: to build, to run, to draw and to develop."""
    project = PROJECT["project"]
    extras = [one for extra in project["optional-dependencies"].values() for one in extra]
    texts = [*PROJECT["build-system"]["requires"], *project["dependencies"], *extras]
    return [Requirement(text) for text in [*texts, *PROJECT["dependency-groups"]["dev"]]]


def unlocked(requirements: list[Requirement], locked: list[Requirement]) -> list[str]:
    """The requirements that no pin satisfies."""
    found = []
    for requirement in requirements:
        versions = [pinned_version(pin) for pin in locked if _same(pin, requirement)]
        if not versions or not all(requirement.specifier.contains(one) for one in versions):
            found.append(str(requirement))
    return found


def _same(pin: Requirement, requirement: Requirement) -> bool:
    return canonicalize_name(pin.name) == canonicalize_name(requirement.name)


def test_the_lock_satisfies_every_requirement() -> None:
    assert unlocked(asked(), pins(LOCK)) == [], REFRESH


def test_a_requirement_without_a_fitting_pin_is_found() -> None:
    locked = [Requirement("a==1.5"), Requirement("B_c==2.0; python_version < '3.12'"), Requirement("B_c==3.0")]
    requirements = [Requirement("a>=1,<2"), Requirement("b-c>=2.5"), Requirement("d")]
    assert unlocked(requirements, locked) == ["b-c>=2.5", "d"]


def test_every_pin_has_hashes_and_no_address() -> None:
    text = LOCK.read_text()
    blocks = re.findall(r"^\S+==[^\n]*\\\n(?: +--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+", text, re.MULTILINE)
    assert len(blocks) == len(pins(LOCK)) > 0
    assert "://" not in text
    assert "--index" not in text


def test_the_environment_has_the_locked_versions() -> None:
    here = [pin for pin in pins(LOCK) if pin.marker is None or pin.marker.evaluate()]
    assert {pin.name: version(pin.name) for pin in here} == {pin.name: pinned_version(pin) for pin in here}, REFRESH


def test_conformance_has_the_version_of_the_workspace_and_fits_that_alone() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert CONFORMANCE["project"]["version"] == workspace
    assert f"probelet=={workspace}" in CONFORMANCE["project"]["dependencies"]


def test_the_lock_has_what_conformance_needs_and_is_built_with() -> None:
    texts = [*CONFORMANCE["build-system"]["requires"], *CONFORMANCE["project"]["dependencies"]]
    assert {text for text in texts if not text.startswith("probelet==")} <= {*PROJECT["dependency-groups"]["dev"]}
