"""The files of a release that pip does not install: chart, manifests, man pages, recordings, release notes. Each is the
same, byte for byte, whenever it is made."""

import gzip
import io
import os
import re
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tools.dist.wheel import DistError
from tools.manual.page import pages

GZIP_LEVEL: Final = 9

CHART = "deploy/chart"
"""A folder with links to the folders whose objects the chart renders too; helm gets the files."""
DEPLOY = ("README.md", "config.yaml", "crds", "grafana", "kustomize", "policy", "prometheus", "systemd")
"""The parts of ``deploy`` that people apply or copy, without chart and image, which have files of their own."""
ONLY_TESTS = "deploy/kustomize/overlays/test/"
RECORDED = ("tests/kubelet/traces", "tests/kubelet/generated", "tests/kubelet/releases")
"""Without `tests/kubelet/instants`, where the kubelet itself decides by chance."""
RECORDED_HANDLERS = "tests/handlers/recorded"
RECORDINGS = (".json", ".jsonl")

SECTION = re.compile(r"^## (?P<version>\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d\n+(?P<text>.*?)(?=^## |\Z)", re.M | re.S)


def write_bundles(root: Path, version: str, folder: Path, epoch: int) -> None:
    """Writes them into ``folder``, with ``epoch`` (seconds since 1970) as the time of each packed file. Raises DistError."""
    notes = release_notes((root / "CHANGELOG.md").read_text(), version)
    top = f"probelet-{version}"
    (folder / f"{top}-notes.md").write_text(notes)
    (folder / f"{top}-crds.yaml").write_text(_crds(root))
    chart = {f"probelet/{path.relative_to(root / CHART)}": path.read_bytes() for path in _files(root / CHART)}
    pack(folder / f"probelet-chart-{version}.tgz", chart, epoch)
    pack(folder / f"{top}-deploy.tar.gz", _deploy(root, top), epoch)
    pack(folder / f"{top}-man.tar.gz", {f"man1/{name}": text.encode() for name, text in pages()}, epoch)
    pack(folder / f"{top}-recordings.tar.gz", _recordings(root, f"{top}-recordings"), epoch)


def release_notes(changelog: str, version: str) -> str:
    """The section of a version, with a heading. Raises DistError if the changelog has none."""
    sections = {found["version"]: found["text"] for found in SECTION.finditer(changelog)}
    if version not in sections:
        raise DistError(f"CHANGELOG.md has no section '## {version} - YYYY-MM-DD'")
    return f"# probelet {version}\n\n{sections[version].strip()}\n"


def pack(file: Path, contents: Mapping[str, bytes], epoch: int) -> None:
    """Writes a compressed tar file of ``contents``, names and bytes, in the order of the names; root owns each."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, data in sorted(contents.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(data), epoch, 0o644
            tar.addfile(entry, io.BytesIO(data))
    file.write_bytes(gzip.compress(buffer.getvalue(), GZIP_LEVEL, mtime=0))


def _files(folder: Path) -> Iterator[Path]:
    """Every file below ``folder``, also behind links to folders."""
    for place, _, names in os.walk(folder, followlinks=True):
        yield from (Path(place, name) for name in names)


def _crds(root: Path) -> str:
    """The custom resource definitions as one stream, for `kubectl apply -f`."""
    files = [path for path in sorted((root / "deploy/crds").glob("*.yaml")) if path.name != "kustomization.yaml"]
    return "---\n".join(path.read_text() for path in files)


def _deploy(root: Path, top: str) -> dict[str, bytes]:
    parts = [root / "deploy" / part for part in DEPLOY]
    files = [path for part in parts for path in ([part] if part.is_file() else _files(part))]
    named = {str(path.relative_to(root)): path for path in files}
    return {f"{top}/{name}": path.read_bytes() for name, path in named.items() if not name.startswith(ONLY_TESTS)}


def _recordings(root: Path, top: str) -> dict[str, bytes]:
    """The recordings of kubelets that are kept, in the folders of the repository without ``tests``."""
    files = [path for folder in (*RECORDED, RECORDED_HANDLERS) for path in _files(root / folder)]
    kept = [path for path in files if path.suffix in RECORDINGS]
    return {f"{top}/{path.relative_to(root / 'tests')}": path.read_bytes() for path in kept}
