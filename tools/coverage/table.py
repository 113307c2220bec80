"""Numbers of lines, and the table that shows them."""

from dataclasses import dataclass
from functools import reduce
from operator import add


@dataclass(frozen=True)
class Lines:
    count: int
    covered: int

    def __add__(self, other: "Lines") -> "Lines":
        return Lines(self.count + other.count, self.covered + other.covered)

    @property
    def percent(self) -> str:
        return f"{100 * self.covered / self.count:.1f} %" if self.count else "-"


def markdown(folders: dict[str, Lines]) -> str:
    """A row for each folder that has lines, then their sum."""
    rows = [(f"`{folder}`", folders[folder]) for folder in sorted(folders) if folders[folder].count]
    rows.append(("together", reduce(add, folders.values(), Lines(0, 0))))
    body = "".join(f"| {name} | {lines.count} | {lines.covered} | {lines.percent} |\n" for name, lines in rows)
    return f"| folder | lines | run by a test | share |\n|---|---|---|---|\n{body}"
