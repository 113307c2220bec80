"""Every package in ``Cargo.lock`` and ``requirements.lock``, with the licence that it declares."""

import json
import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Literal

from packaging.requirements import Requirement

Ecosystem = Literal["crates.io", "PyPI"]
"""The names that the OSV format gives to the two indexes."""


@dataclass(frozen=True)
class Package:
    ecosystem: Ecosystem
    name: str
    version: str
    licence: str
    """As declared: an SPDX expression, another text, or empty."""

    def __str__(self) -> str:
        return f"{self.ecosystem} {self.name} {self.version}"


def pins(lock: Path) -> list[Requirement]:
    """The pinned packages of ``requirements.lock``, those with a marker for another Python among them."""
    lines = lock.read_text().splitlines()
    return [Requirement(line.rstrip(" \\")) for line in lines if "==" in line and not line.startswith(("#", " "))]


def pinned_version(pin: Requirement) -> str:
    return str(pin.specifier).removeprefix("==")


def crates(root: Path) -> list[Package]:
    """The crates of ``Cargo.lock`` without the workspace's own, from what cargo has fetched already."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline"]
    told = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if told.returncode:
        raise SystemExit(f"audit: cargo metadata failed; run make build first:\n{told.stderr}")
    found = json.loads(told.stdout)["packages"]
    return [Package("crates.io", p["name"], p["version"], p["license"] or "") for p in found if p["source"]]


def distributions(root: Path) -> list[Package]:
    """The pinned Python packages, those for another Python or system among them."""
    return [Package("PyPI", pin.name, pinned_version(pin), _declared(pin)) for pin in pins(root / "requirements.lock")]


def _declared(pin: Requirement) -> str:
    """The licence in the metadata of the installed package; empty if this machine does not need the pin."""
    try:
        metadata = distribution(pin.name).metadata
    except PackageNotFoundError:
        if pin.marker is None or pin.marker.evaluate():
            raise SystemExit(f"audit: {pin.name} is locked and not installed; run make build first") from None
        return ""
    fields = ("License-Expression", "License")
    return next((metadata[field] for field in fields if field in metadata), "")
