"""Where each part of an installation is, on the machine that will run it and in the staging folder of a package."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SHEBANG_BYTES_MAX = 127
"""The longest first line of a script that every Linux reads whole (BINPRM_BUF_SIZE before 5.1)."""


class InstallError(Exception):
    """Nothing was changed, or what was changed is whole; the message is one line for the person who runs make."""


@dataclass(frozen=True)
class Layout:
    """``prefix`` and ``configuration`` (SYSCONFDIR) are paths of the machine that runs probelet."""

    prefix: Path
    configuration: Path
    destination: Path | None
    """DESTDIR: the folder that stands for ``/`` while files are installed; None for ``/`` itself."""

    def __post_init__(self) -> None:
        for name, path in (("PREFIX", self.prefix), ("SYSCONFDIR", self.configuration)):
            if not path.is_absolute() or ".." in path.parts:
                raise InstallError(f'{name}: "{path}" must be an absolute path without ".."')
        shebang = self.shebang
        if len(shebang.encode()) > SHEBANG_BYTES_MAX or any(space in str(self.prefix) for space in " \t\n"):
            raise InstallError(
                f'PREFIX: "{self.prefix}" must have no white space and at most '
                f"{SHEBANG_BYTES_MAX - len(shebang.encode()) + len(str(self.prefix).encode())} bytes, because the "
                "launcher's first line names it"
            )

    def staged(self, path: Path) -> Path:
        """The place to which a file is written that will be at ``path``."""
        return self.destination / path.relative_to("/") if self.destination else path

    @property
    def environment(self) -> Path:
        """A Python environment of probelet's own: nothing else of the machine sees its packages."""
        return self.prefix / "lib/probelet"

    @property
    def shebang(self) -> str:
        # -I: neither PYTHONPATH nor packages of the user change what runs.
        return f"#!{self.environment}/bin/python -I"

    @property
    def launcher(self) -> Path:
        return self.prefix / "bin/probelet"

    @property
    def settings(self) -> Path:
        """The folder of the configuration and of the manifests."""
        return self.configuration / "probelet"

    @property
    def unit(self) -> Path:
        return self.prefix / "lib/systemd/system/probelet.service"

    @property
    def user_unit(self) -> Path:
        return self.prefix / "lib/systemd/user/probelet.service"

    @property
    def manual(self) -> Path:
        return self.prefix / "share/man/man1"

    @property
    def completions(self) -> dict[str, Path]:
        """The place of each shell's script; zsh loads a function from a file of the function's name."""
        share = self.prefix / "share"
        return {
            "bash": share / "bash-completion/completions/probelet",
            "zsh": share / "zsh/site-functions/_cyclopts_probelet",
            "fish": share / "fish/vendor_completions.d/probelet.fish",
        }

    @property
    def shared(self) -> Path:
        """What other programs read: Prometheus, Grafana and editors."""
        return self.prefix / "share/probelet"

    @property
    def schema(self) -> Path:
        """The JSON schema of the configuration, for editors."""
        return self.shared / "config.schema.json"

    @property
    def watching(self) -> dict[str, Path]:
        """The place of each file of ``deploy`` for Prometheus and Grafana."""
        names = ("prometheus/alerts.yaml", "prometheus/prometheus.yaml", "grafana/probelet.json")
        return {name: self.shared / name for name in names}

    def files(self) -> Iterator[Path]:
        """Every installed file outside the environment and the settings, where it was staged."""
        shared = (self.schema, *self.watching.values())
        for path in (self.launcher, self.unit, self.user_unit, *self.completions.values(), *shared):
            yield self.staged(path)
        manual = self.staged(self.manual)
        yield from (*manual.glob("probelet.1"), *manual.glob("probelet-*.1"))


def is_environment(folder: Path) -> bool:
    """True for a folder that an installation has made, so that nothing else is ever removed."""
    return (folder / "pyvenv.cfg").is_file() and any(folder.glob("lib/python3*/site-packages/probelet"))


def write_file(path: Path, text: str, mode: int = 0o644) -> None:
    """Writes a file that every user may read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def remove_files(layout: Layout) -> None:
    """Removes the files of an installation, and its own folders among the shared ones if nothing else is in them."""
    for file in list(layout.files()):
        file.unlink(missing_ok=True)
    shared = layout.staged(layout.shared)
    for folder in (shared / "prometheus", shared / "grafana", shared):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
