"""A flame graph without JavaScript: ``perf script -F comm,ip,sym | python -m benches.profile.flamegraph``.

Reads stacks from standard input, writes an SVG to standard output. Kernel frames are red, the others yellow.
"""

import html
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

WIDTH, ROW = 1160, 15
FRAME = re.compile(r"^\s+([0-9a-f]+) (.*)$")
NARROWEST = 0.6
"""A narrower frame, in pixels, is left out because it would not be readable."""
LETTER = 6.3
KERNEL_ADDRESS_DIGITS = 16


@dataclass
class Node:
    samples: int = 0
    is_kernel: bool = False
    callees: dict[str, "Node"] = field(default_factory=dict)

    def add(self, stack: Iterable[tuple[str, bool]]) -> None:
        node = self
        node.samples += 1
        for name, is_kernel in stack:
            node = node.callees.setdefault(name, Node(is_kernel=is_kernel))
            node.samples += 1

    def depth(self) -> int:
        return 1 + max((callee.depth() for callee in self.callees.values()), default=0)


def stacks(lines: Iterable[str]) -> Iterator[list[tuple[str, bool]]]:
    """Each sample's frames, outermost first, and whether each is the kernel's."""
    stack: list[tuple[str, bool]] = []
    for line in [*lines, ""]:
        if (found := FRAME.match(line)) is not None:
            address, name = found.groups()
            if name != "[unknown]":
                stack.append((name, len(address) == KERNEL_ADDRESS_DIGITS and address.startswith("ffff")))
        elif not line.strip() and stack:
            yield stack[::-1]
            stack = []


def rectangles(node: Node, whole: int, left: float, row: int) -> Iterator[str]:
    for name, callee in sorted(node.callees.items()):
        width = callee.samples / whole * WIDTH
        if width >= NARROWEST:
            yield rectangle(name, callee, left, width, row, whole)
            yield from rectangles(callee, whole, left, row - 1)
        left += width


def rectangle(name: str, node: Node, left: float, width: float, row: int, whole: int) -> str:
    shown = name if len(name) * LETTER < width else name[: max(0, int(width / LETTER) - 2)] + ".."
    text = html.escape(shown) if width > 4 * LETTER else ""
    title = html.escape(f"{name}: {node.samples / whole:.1%}")
    fill = "#e8735c" if node.is_kernel else "#f2c14e"
    return (
        f'<g><title>{title}</title><rect x="{left:.1f}" y="{row * ROW}" width="{width:.1f}" height="{ROW - 1}" '
        f'fill="{fill}"/><text x="{left + 3:.1f}" y="{row * ROW + 11}">{text}</text></g>'
    )


def render(root: Node) -> str:
    rows = root.depth()
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {rows * ROW}" font-family="monospace" '
            'font-size="10">',
            *rectangles(root, root.samples, 0, rows - 1),
            "</svg>",
        ]
    )


def main() -> None:
    root = Node()
    for stack in stacks(sys.stdin):
        root.add(stack)
    if not root.samples:
        sys.exit("no stacks: perf script -F comm,ip,sym prints them")
    print(render(root))


if __name__ == "__main__":
    main()
