"""``python -m tools.dist``, as the Makefile calls it after maturin. Exit code 2 and one line for a mistake."""

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from tools.dist.bill import write_bills
from tools.dist.bundle import write_bundles
from tools.dist.wheel import DistError, build_conformance, finish
from tools.install.layout import InstallError

ROOT = Path(__file__).parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(prog="make dist")
    parser.add_argument("--wheels", type=Path, required=True, help="the folder with maturin's wheel")
    parser.add_argument("--program", type=Path, required=True, help="probelet-enter, static")
    parser.add_argument("--tools", type=Path, required=True, help="the folder with auditwheel and cyclonedx-py")
    parser.add_argument("--out", type=Path, required=True, help="the folder of the release, with sdist and image")
    given = parser.parse_args()
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    # What is installed for the bill is not for this user alone.
    os.umask(0o022)
    try:
        (built,) = given.wheels.glob("probelet-*.whl")
        epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
        wheel = finish(built, given.program, ROOT, given.out, epoch)
        build_conformance(ROOT, given.out, epoch)
        print(audited(wheel, given.tools))
        write_bills(ROOT, given.tools, wheel, version, given.out)
        write_bundles(ROOT, version, given.out, epoch)
        print(sums(given.out))
    except (DistError, InstallError, OSError, ValueError) as error:
        print(f"make dist: {error}", file=sys.stderr)
        sys.exit(2)


def audited(wheel: Path, tools: Path) -> str:
    """What auditwheel says of the wheel. Raises DistError unless it gives the platform that the wheel's name has."""
    ended = subprocess.run([str(tools / "auditwheel"), "show", str(wheel)], capture_output=True, text=True)
    found = re.search(r'platform\s+tag:\s+"(manylinux_\w+)"', ended.stdout)
    if ended.returncode or found is None:
        raise DistError(f"auditwheel: {wheel.name} is no manylinux wheel: {(ended.stdout + ended.stderr).strip()}")
    if not wheel.stem.endswith(found[1]):
        raise DistError(f"auditwheel: {wheel.name} is a wheel for {found[1]}")
    return f"{wheel.name}: auditwheel says {found[1]}"


def sums(folder: Path) -> str:
    """Writes SHA256SUMS for the files of the folder, as sha256sum does; returns its text."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    text = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    (folder / "SHA256SUMS").write_text(text)
    return text.rstrip()


if __name__ == "__main__":
    main()
