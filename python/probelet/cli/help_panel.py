"""How ``--help`` shows arguments: as the library does, without what nobody types or needs to know."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions


class Panels:
    """The library's panels; it imports them only when a help is shown."""

    def __call__(self, console: "Console", options: "ConsoleOptions", panel: "HelpPanel") -> None:
        from cyclopts.help import DefaultFormatter

        panel.entries = [as_typed(entry) for entry in panel.entries]
        DefaultFormatter()(console, options, panel)

    def render_usage(self, console: "Console", options: "ConsoleOptions", usage: Any) -> None:
        from cyclopts.help import DefaultFormatter

        DefaultFormatter().render_usage(console, options, usage)


def as_typed(entry: "HelpEntry") -> "HelpEntry":
    """An argument without the option that the library makes of its name (``POD``: ``--POD``)."""
    from attrs import evolve

    if not entry.positional_label:
        return entry
    return evolve(entry, positive_names=tuple(name for name in entry.positive_names if not name.isupper()))


def shown_default(value: Any) -> str | None:
    """A default as the help has it; none for what an option that is left out means anyway."""
    if value is False or value is None or value in ("", ()):
        return None
    return f"{value:g}" if isinstance(value, float) else str(value)
