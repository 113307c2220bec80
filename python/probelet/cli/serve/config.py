"""``probelet config``."""

from typing import Any

from probelet.cli.exit import Exit
from probelet.cli.options import Output
from probelet.cli.serve.config_flags import CONFIG, ConfigFlags
from probelet.cli.terminal import console, say_json
from probelet.cli.verb import verb
from probelet.printable import one_line

app = verb(
    "config",
    "Shows the values that 'probelet run' would use with the same options, and the\n"
    "file and line, or the flag, that sets each one. Exits with 2 and one line per\n"
    "mistake if the configuration is unusable.",
    "probelet config show --config /var/lib/kubelet/config.yaml",
    "probelet config show --config c.yaml --config-dir kubelet.conf.d",
    "probelet config show --feature-gates AllAlpha=true -o json | jq .origins",
)


@app.command
def show(*, config: ConfigFlags = CONFIG, output: Output = "table") -> int:
    """Show the effective configuration."""
    from probelet.config.document import config_document

    found = config_document(config.read())
    if output == "json":
        import msgspec

        say_json(msgspec.json.encode(found), indented=True)
    else:
        _print(found)
    return Exit.GOOD


def _print(found: dict[str, Any]) -> None:
    out = console()
    origins = found["origins"]
    rows = [("SETTING", "VALUE", "FROM")]
    curve = found["crashLoopBackOff"]
    rows += [
        ("restart delay", f"{curve['initial_seconds']}s to {curve['max_seconds']}s", curve["source"]),
        ("restart delay, reset after", f"{curve['reset_seconds']}s", "default"),
    ]
    for name, value in found["featureGates"].items():
        path = f"featureGates[{name}]"
        rows.append((path, str(value).lower(), origins.get(path, "default")))
    for document in ("kubeletconfig", "probeletconfig"):
        rows += [(path, value, origins.get(path, "default")) for path, value in _leaves(found[document])]
    width = max(len(name) for name, _, _ in rows), max(len(value) for _, value, _ in rows)
    for name, value, origin in rows:
        line = f"{name:<{width[0]}}  {value:<{width[1]}}  {origin}"
        out.print(one_line(line), style="bold" if name == "SETTING" else None, soft_wrap=True)
    for warning in found["warnings"]:
        out.print(one_line(f"warning: {warning}"), style="yellow", soft_wrap=True)


def _leaves(section: dict[str, Any], within: str = "") -> list[tuple[str, str]]:
    """Field paths and texts of a section's values; feature gates have their own rows."""
    found = []
    for name, value in section.items():
        if isinstance(value, dict) and name != "featureGates":
            found += _leaves(value, f"{within}{name}.")
        elif name not in ("apiVersion", "kind", "featureGates"):
            text = str(value).lower() if isinstance(value, bool) else str(value)
            found.append((f"{within}{name}", text))
    return found
