"""``probelet version``."""

from probelet.cli.exit import Exit
from probelet.cli.options import Output
from probelet.cli.terminal import say, say_json
from probelet.cli.verb import verb

# The release whose prober was recorded; see docs/kubelet-parity.md.
KUBERNETES = "1.36.3"

app = verb("version", "", "probelet version", "probelet version -o json")


@app.default
def version(*, output: Output = "table") -> int:
    import json
    import platform

    from probelet import _rust

    found = {"probelet": _rust.version(), "kubernetes": KUBERNETES, "python": platform.python_version()}
    if output == "json":
        say_json(json.dumps({"schema": "probelet-version/1", **found}).encode())
    else:
        say(f"probelet {found['probelet']} (prober of Kubernetes {found['kubernetes']}, Python {found['python']})")
    return Exit.GOOD
