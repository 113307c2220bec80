"""A Go module of the tests that uses packages of Kubernetes, for another release than the one of its go.mod."""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

STAGING = re.compile(r"(k8s\.io/[\w-]+) => \./staging/src/\S+")
"""In Kubernetes' own go.mod the libraries that it publishes lie beside it."""


class NoReleaseError(Exception):
    """The Go proxy has no such release, or cannot be reached; the message is one line for a person."""


@dataclass(frozen=True)
class KubeletRelease:
    """A published patch release, such as 1.37.2."""

    version: str

    @property
    def name(self) -> str:
        """As recordings name it."""
        return f"k8s.io/kubernetes v{self.version}"

    @property
    def minor(self) -> str:
        return self.version.rpartition(".")[0]

    @property
    def tag(self) -> str:
        """The build tag of the Go files for this minor release; a release without such files ignores it."""
        return f"kubelet_{self.minor.replace('.', '_')}"

    def module(self, source: Path, into: Path) -> Path:
        """The module ``source``, or for another release than its own a copy below ``into`` that requires that release.

        The requirements of the copy are those of Kubernetes' own go.mod: each library has the version with which the
        release was built.

        Raises:
            NoReleaseError: the Go proxy does not give the release.
        """
        if f"{self.name}\n" in (source / "go.mod").read_text():
            return source
        copy = into / f"{source.name}-{self.version}"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns("go.mod", "go.sum"))
        staged = rf"\1 => \1 v0.{self.version.partition('.')[2]}"
        text = STAGING.sub(staged, Path(self._published(into)["GoMod"]).read_text()).replace(
            "module k8s.io/kubernetes", "module probelet.dev/tests", 1
        )
        (copy / "go.mod").write_text(f"{text}\nrequire k8s.io/kubernetes v{self.version}\n")
        return copy

    def go(self, into: Path) -> str:
        """The release of Go that builds its programs, such as go1.26.5.

        Raises:
            NoReleaseError: the Go proxy does not give the release.
        """
        return "go" + (Path(self._published(into)["Dir"]) / ".go-version").read_text().strip()

    def _published(self, folder: Path) -> Mapping[str, str]:
        command = ["go", "mod", "download", "-json", f"k8s.io/kubernetes@v{self.version}"]
        # It exits with 1 for what it says in `Error`.
        said: Mapping[str, str] = json.loads(subprocess.run(command, cwd=folder, stdout=subprocess.PIPE).stdout)
        if "Error" in said:
            raise NoReleaseError(f"Kubernetes {self.version}: {said['Error']}")
        return said
