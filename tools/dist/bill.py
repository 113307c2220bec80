"""Bills of materials in the format CycloneDX: the crates as maturin lists them, the Python packages as cyclonedx-py does."""

import json
import os
import subprocess
import tempfile
import zipfile
from pathlib import Path

from tools.dist.wheel import SBOM, DistError
from tools.install.environment import make_environment
from tools.install.layout import Layout


def write_bills(root: Path, programs: Path, wheel: Path, version: str, folder: Path) -> None:
    """Writes both bills into ``folder``; ``programs`` is the folder with cyclonedx-py. Raises DistError, InstallError."""
    (folder / f"probelet-{version}-crates.cdx.json").write_bytes(_of_crates(wheel))
    (folder / f"probelet-{version}-python.cdx.json").write_bytes(_of_packages(root, programs, version))


def _of_crates(wheel: Path) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(SBOM))
        return archive.read(name)


def _of_packages(root: Path, programs: Path, version: str) -> bytes:
    """What `make install` and `make image` install: exactly the pins of requirements.lock, with their licences."""
    with tempfile.TemporaryDirectory() as place:
        layout = Layout(Path(place), Path(place, "etc"), None)
        make_environment(root, layout, str(programs / "python"))
        flags = ["--output-reproducible", "--pyproject", "pyproject.toml", "--output-file", "-"]
        command = [str(programs / "cyclonedx-py"), "environment", *flags, str(layout.environment / "bin/python")]
        # A warning of the generator's own library says nothing about probelet.
        variables = {**os.environ, "PYTHONWARNINGS": "ignore"}
        ended = subprocess.run(command, cwd=root, env=variables, capture_output=True, text=True)
        if ended.returncode:
            raise DistError(f"cyclonedx-py failed: {ended.stderr.strip()}")
        text = ended.stdout.replace(place, "")
    bill = json.loads(text)
    # The project's file has no version: it is that of the workspace.
    bill["metadata"]["component"]["version"] = version
    return json.dumps(bill, indent=2).encode()
