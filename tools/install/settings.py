"""The administrator's part of an installation: the configuration and the folder of manifests."""

from pathlib import Path

from tools.install.layout import Layout, write_file

SAMPLE = "deploy/config.yaml"


def write_settings(root: Path, layout: Layout) -> list[str]:
    """Makes the folder of manifests and the sample configuration, and never replaces a configuration.

    Returns a line for what it left alone.
    """
    settings = layout.staged(layout.settings)
    (settings / "manifests").mkdir(parents=True, exist_ok=True)
    sample = (root / SAMPLE).read_text()
    configuration = settings / "config.yaml"
    if not configuration.exists():
        write_file(configuration, sample)
    elif configuration.read_text(errors="replace") != sample:
        write_file(settings / "config.yaml.new", sample)
        return [f"{configuration} stays as it is; the sample of this version is {settings / 'config.yaml.new'}"]
    return []


def remove_settings(root: Path, layout: Layout) -> list[str]:
    """Removes the sample and empty folders. Returns a line for each thing of the administrator's, which stays."""
    settings = layout.staged(layout.settings)
    (settings / "config.yaml.new").unlink(missing_ok=True)
    configuration, manifests = settings / "config.yaml", settings / "manifests"
    stays = []
    if configuration.exists() and configuration.read_text(errors="replace") != (root / SAMPLE).read_text():
        stays.append(f"{configuration} stays: it is not the sample")
    else:
        configuration.unlink(missing_ok=True)
    if manifests.is_dir() and any(manifests.iterdir()):
        stays.append(f"{manifests} stays: it is not empty")
    elif manifests.is_dir():
        manifests.rmdir()
    if settings.is_dir() and not any(settings.iterdir()):
        settings.rmdir()
    return stays
