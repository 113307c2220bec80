"""``probelet config``."""

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from probelet.base.printable import one_line
from probelet.cli.exit import Exit
from probelet.cli.options import KubeletVersion, Output
from probelet.cli.serve.flags import CONFIG, ConfigFlags
from probelet.cli.terminal import console, print_json
from probelet.cli.verb import verb

if TYPE_CHECKING:
    from probelet.config.document import ConfigDocument, Setting

app = verb(
    "config",
    "'show', or no word, prints the values that 'probelet run' would use with the\n"
    "same options, and the file and line, or the flag, that sets each one. It exits\n"
    "with 2 and one line per mistake if the configuration is unusable. 'schema'\n"
    "prints the JSON schema of a configuration file, for an editor.",
    "probelet config show --config /var/lib/kubelet/config.yaml",
    "probelet config --config c.yaml --all",
    "probelet config show --config c.yaml --config-dir kubelet.conf.d",
    "probelet config show --feature-gates AllAlpha=true -o json | jq .origins",
    "probelet config schema --kubelet-version 1.37",
)


@app.default
@app.command
def show(
    *,
    config: ConfigFlags = CONFIG,
    every: Annotated[
        bool, Parameter(name="--all", show_default=False, help="Show unset fields and every default too.")
    ] = False,
    output: Output = "table",
) -> int:
    """Show the effective configuration."""
    from probelet.config.document import config_document
    from probelet.config.setting import settings

    read = config.read()
    found, rows = config_document(read), settings(read)
    if output == "json":
        import msgspec

        print_json(msgspec.json.encode(found | {"settings": rows} if every else found), indented=True)
    elif every:
        _print(["SETTING", "VALUE", "DEFAULT", "FROM"], [*_curve(found), *map(_row_of_all, rows)], found["warnings"])
    else:
        shown = [_row(row) for row in rows if row["value"] is not None]
        _print(["SETTING", "VALUE", "FROM"], [*_curve(found, default=False), *shown], found["warnings"])
    return Exit.GOOD


@app.command
def schema(*, kubelet_version: KubeletVersion = "1.36") -> int:
    """Print the JSON schema (draft 2020-12) of a configuration file."""
    import msgspec

    from probelet.config.schema.document import config_schema

    print_json(msgspec.json.encode(config_schema(kubelet_version)), indented=True)
    return Exit.GOOD


def _curve(found: "ConfigDocument", *, default: bool = True) -> list[list[str]]:
    """The rows of what results from several fields."""
    from probelet.config.crash_loop import CrashLoop
    from probelet.config.document import curve_document

    rows = []
    curve, usual = found["crashLoopBackOff"], curve_document(CrashLoop())
    for name, text, source in (
        ("restart delay", "{initial_seconds}s to {max_seconds}s", curve["source"]),
        ("restart delay, reset after", "{reset_seconds}s", "default"),
    ):
        rows.append([name, text.format(**curve), *([text.format(**usual)] if default else []), source])
    return rows


def _row(setting: "Setting") -> list[str]:
    return [setting["field"], _text(setting["value"]), setting["origin"] or "default"]


def _row_of_all(setting: "Setting") -> list[str]:
    origin = f"{setting['source']} {setting['origin']}".strip()
    return [setting["field"], _text(setting["value"]), _text(setting["default"]), origin]


def _text(value: Any) -> str:
    return "unset" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _print(heads: list[str], rows: list[list[str]], warnings: list[str]) -> None:
    out = console()
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, *rows):
        line = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        out.print(one_line(line), style="bold" if row is heads else None, soft_wrap=True)
    for warning in warnings:
        out.print(one_line(f"warning: {warning}"), style="yellow", soft_wrap=True)
