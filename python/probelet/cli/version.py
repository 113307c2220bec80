"""``probelet version``."""

from typing import Literal, TypedDict

from probelet.cli.exit import Exit
from probelet.cli.options import Output
from probelet.cli.terminal import print_json, print_lines
from probelet.cli.verb import verb

# The release whose prober was recorded; see docs/kubelet-parity.md.
KUBERNETES = "1.36.3"


class VersionDocument(TypedDict):
    """The versions of what runs."""

    schema: Literal["probelet-version/1"]
    probelet: str
    """The version of probelet."""
    kubernetes: str
    """The release of Kubernetes whose prober was recorded."""
    python: str
    """The version of Python."""


app = verb("version", "", "probelet version", "probelet version -o json")


@app.default
def version(*, output: Output = "table") -> int:
    import json
    import platform

    from probelet import _rust

    found: VersionDocument = {
        "schema": "probelet-version/1",
        "probelet": _rust.version(),
        "kubernetes": KUBERNETES,
        "python": platform.python_version(),
    }
    if output == "json":
        print_json(json.dumps(found).encode())
    else:
        print_lines(
            f"probelet {found['probelet']} (prober of Kubernetes {found['kubernetes']}, Python {found['python']})"
        )
    return Exit.GOOD
