"""Known defects of the locked packages, from a kept database in the OSV format (https://ossf.github.io/osv-schema).

Both indexes publish in that format: RustSec's ``osv`` branch as JSON, PyPA's advisory-database as YAML.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from tools.audit.packages import Package

_SEMVER = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?")
Record = dict[str, Any]


def problems(packages: Iterable[Package], database: Path) -> list[str]:
    """One line for each advisory that a locked version is affected by."""
    packages = list(packages)
    found = []
    for record in records(database, {_key(package) for package in packages}):
        for affected in record.get("affected", []):
            found += [
                f"{package}: {record['id']} {record.get('summary') or ''}".rstrip()
                for package in packages
                if _key(package) == _affected_key(affected) and is_affected(package.version, affected)
            ]
    return found


def records(database: Path, wanted: set[tuple[str, str]]) -> Iterator[Record]:
    """The advisories about a wanted package, without withdrawn ones."""
    read = 0
    for file in sorted(file for file in database.rglob("*") if file.suffix in (".json", ".yaml", ".yml")):
        text = file.read_text()
        # Most files are about other packages: a search is a hundred times cheaper than reading YAML.
        if '"affected"' not in text and "affected:" not in text:
            continue
        read += 1
        if not any(name in canonicalize_name(text) for _, name in wanted):
            continue
        record = json.loads(text) if file.suffix == ".json" else yaml.safe_load(text)
        if not record.get("withdrawn") and any(_affected_key(affected) in wanted for affected in record["affected"]):
            yield record
    if not read:
        raise SystemExit(f"audit: {database} holds no advisory in the OSV format")


def _key(package: Package) -> tuple[str, str]:
    return package.ecosystem, canonicalize_name(package.name)


def _affected_key(affected: Record) -> tuple[str, str]:
    package = affected["package"]
    return package["ecosystem"], canonicalize_name(package["name"])


def is_affected(version: str, affected: Record) -> bool:
    if version in (affected.get("versions") or []):
        return True
    return any(
        _in_range(version, one) for one in (affected.get("ranges") or []) if one["type"] in ("SEMVER", "ECOSYSTEM")
    )


def _in_range(version: str, one: Record) -> bool:
    """OSV's rule: walk the events in order of version; the last one at or below ``version`` decides."""
    order = _semver if one["type"] == "SEMVER" else _pep440
    here = order(version)
    inside = False
    for event in sorted(one["events"], key=lambda event: order(next(iter(event.values())))):
        if "introduced" in event and order(event["introduced"]) <= here:
            inside = True
        if "fixed" in event and order(event["fixed"]) <= here:
            inside = False
        if "last_affected" in event and order(event["last_affected"]) < here:
            inside = False
    return inside


def _semver(text: str) -> tuple[Any, ...]:
    """A key in the order of Semantic Versioning: a pre-release is before its release, its numbers before its words."""
    match = _SEMVER.match("0.0.0-0" if text == "0" else text)
    if match is None:
        raise SystemExit(f"audit: {text!r} is no semantic version")
    parts = match[4].split(".") if match[4] else []
    before = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts)
    return int(match[1]), int(match[2]), int(match[3]), not before, before


def _pep440(text: str) -> tuple[Any, ...]:
    try:
        return (Version(text),)
    except InvalidVersion:
        raise SystemExit(f"audit: {text!r} is no version of a Python package") from None
