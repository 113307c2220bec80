"""The configuration is the administrator's: neither an upgrade nor a removal takes it."""

from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tools.install.layout import Layout
from tools.install.settings import remove_settings, write_settings

SAMPLE = (ROOT / "deploy" / "config.yaml").read_text()


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(Path("/usr"), Path("/etc"), tmp_path)


@pytest.fixture
def settings(layout: Layout) -> Path:
    return layout.staged(layout.settings)


def test_the_sample_is_installed_once_and_removed(layout: Layout, settings: Path) -> None:
    assert write_settings(ROOT, layout) == write_settings(ROOT, layout) == []
    assert sorted(path.name for path in settings.iterdir()) == ["config.yaml", "manifests"]
    assert (settings / "config.yaml").read_text() == SAMPLE
    assert remove_settings(ROOT, layout) == []
    assert not settings.exists()


def test_a_changed_configuration_stays_and_the_sample_is_beside_it(layout: Layout, settings: Path) -> None:
    write_settings(ROOT, layout)
    own = settings / "config.yaml"
    own.write_text("# mine\n")
    assert write_settings(ROOT, layout) == [
        f"{own} stays as it is; the sample of this version is {settings / 'config.yaml.new'}"
    ]
    assert (own.read_text(), (settings / "config.yaml.new").read_text()) == ("# mine\n", SAMPLE)
    assert remove_settings(ROOT, layout) == [f"{own} stays: it is not the sample"]
    assert [path.name for path in settings.iterdir()] == ["config.yaml"]


def test_manifests_stay(layout: Layout, settings: Path) -> None:
    write_settings(ROOT, layout)
    (settings / "manifests" / "web.yaml").touch()
    assert remove_settings(ROOT, layout) == [f"{settings / 'manifests'} stays: it is not empty"]
    assert [path.name for path in settings.rglob("*")] == ["manifests", "web.yaml"]


def test_a_removal_of_what_is_not_there_does_nothing(layout: Layout) -> None:
    assert remove_settings(ROOT, layout) == []
