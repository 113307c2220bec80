"""The files of a release beside the wheels: notes from the changelog, and tar files that are the same at each run."""

import tarfile
from pathlib import Path

import pytest
from probelet._rust import version

from tests.support.paths import ROOT
from tools.dist.bundle import pack, release_notes, write_bundles
from tools.dist.wheel import DistError

CHANGELOG = """\
# Changelog

## Unreleased

- later

## 1.2.0 - 2026-11-29

First a paragraph.

### Upgrade from 1.1.0

- this

## 1.1.0

- before
"""


def test_the_notes_are_the_section_of_the_version_alone() -> None:
    assert release_notes(CHANGELOG, "1.2.0") == (
        "# probelet 1.2.0\n\nFirst a paragraph.\n\n### Upgrade from 1.1.0\n\n- this\n"
    )


@pytest.mark.parametrize("other", ["1.1.0", "1.3.0"])
def test_a_version_without_a_dated_section_has_no_notes(other: str) -> None:
    with pytest.raises(DistError, match=rf"CHANGELOG.md has no section '## {other} - YYYY-MM-DD'"):
        release_notes(CHANGELOG, other)


def test_a_tar_file_is_the_same_in_any_order_and_names_only_root(tmp_path: Path) -> None:
    pack(tmp_path / "a", {"x/b": b"2", "a": b"1"}, 5)
    pack(tmp_path / "b", {"a": b"1", "x/b": b"2"}, 5)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    with tarfile.open(tmp_path / "a") as tar:
        found = [(entry.name, entry.uid, entry.mode, entry.mtime) for entry in tar]
    assert found == [("a", 0, 0o644, 5), ("x/b", 0, 0o644, 5)]


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundles")
    write_bundles(ROOT, version(), folder, 0)
    return folder


def names(file: Path) -> set[str]:
    with tarfile.open(file) as tar:
        return set(tar.getnames())


def test_the_chart_has_the_files_behind_its_links_in_the_folder_that_helm_expects(bundles: Path) -> None:
    found = names(bundles / f"probelet-chart-{version()}.tgz")
    assert {"probelet/Chart.yaml", "probelet/values.yaml", "probelet/values.schema.json"} <= found
    for behind in ("crds", "policy", "kustomize/base", "kustomize/components"):
        folder = ROOT / "deploy" / behind
        inside = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        assert {f"probelet/files/{folder.name}/{name}" for name in inside} <= found, behind


def test_the_manifests_have_everything_of_deploy_but_chart_image_and_what_only_tests_apply(bundles: Path) -> None:
    top = f"probelet-{version()}"
    files = {str(path.relative_to(ROOT)) for path in (ROOT / "deploy").rglob("*") if path.is_file()}
    left_out = ("deploy/chart/", "deploy/image/", "deploy/kustomize/overlays/test/")
    assert names(bundles / f"{top}-deploy.tar.gz") == {
        f"{top}/{name}" for name in files if not name.startswith(left_out)
    }


def test_the_recordings_are_those_that_are_kept(bundles: Path) -> None:
    top = f"probelet-{version()}-recordings"
    found = names(bundles / f"{top}.tar.gz")
    for folder in ("kubelet/traces", "kubelet/generated", "kubelet/releases", "handlers/recorded"):
        kept = {path for path in (ROOT / "tests" / folder).rglob("*") if path.suffix in (".json", ".jsonl")}
        assert kept
        packed = {f"{top}/{path.relative_to(ROOT / 'tests')}" for path in kept}
        assert packed <= found
        found -= packed
    assert found == set()


def test_the_definitions_are_one_stream_that_has_each(bundles: Path) -> None:
    text = (bundles / f"probelet-{version()}-crds.yaml").read_text()
    documents = text.split("---\n")
    assert [document.count("\nkind: CustomResourceDefinition\n") for document in documents] == [1, 1]
