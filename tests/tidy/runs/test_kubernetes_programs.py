"""Tests of ``make test`` use the programs of Kubernetes where they are, and never build them."""

from pathlib import Path

import pytest

from tests.cluster.binaries import build


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder into which they would be built. A build fails the test."""
    monkeypatch.delenv(build.ASSETS, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("subprocess.run", lambda *given, **named: pytest.fail("something was built"))
    build.folder().mkdir(parents=True)
    return build.folder()


def test_without_a_build_the_reason_says_what_builds_them() -> None:
    assert "python -m tests.cluster.binaries " in build.what_is_not_built("etcd")


def test_what_this_version_has_built_is_there(cache: Path) -> None:
    (cache / "stamp").write_text("another version's")
    assert build.what_is_not_built("etcd")
    (cache / "stamp").write_text(build._digest())
    assert build.what_is_not_built("etcd") == ""


def test_a_folder_that_the_caller_names_counts_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "etcd").touch(mode=0o700)
    monkeypatch.setenv(build.ASSETS, str(tmp_path))
    assert build.what_is_not_built("etcd") == ""
    assert build.what_is_not_built("etcd", "kubectl") == f"no kubectl in KUBEBUILDER_ASSETS={tmp_path}"
