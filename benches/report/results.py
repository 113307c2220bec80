"""Results as JSON, one file per suite."""

import hashlib
import json
from pathlib import Path
from typing import Any

from benches.machine import ROOT

FOLDER = ROOT / "benches" / "results"
SCHEMA = "probelet-bench-results/2"

Document = dict[str, Any]


def digest(rows: list[dict[str, Any]]) -> str:
    """Returns a digest of the rows, which shows whether a table was edited by hand."""
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()[:12]


def document(suite: str, command: list[str], machine: dict[str, str], rows: list[dict[str, Any]]) -> Document:
    return {
        "schema": SCHEMA,
        "suite": suite,
        "command": " ".join(command),
        "machine": machine,
        "digest": digest(rows),
        "rows": rows,
    }


def save(result: Document) -> Path:
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{result['suite']}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    return path


def load(suite: str) -> Document | None:
    """Returns None if no results of that suite were kept."""
    path = FOLDER / f"{suite}.json"
    if not path.exists():
        return None
    result: Document = json.loads(path.read_text())
    return result if result.get("schema") == SCHEMA else None
