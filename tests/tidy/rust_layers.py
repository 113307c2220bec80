"""Holds the layers of the Rust crates: no circle among the files of a crate, and no import of a floor by a lower one.

The floors of a crate are written in docs/dev/architecture.md, in a block that begins with ```layers and the crate's
folder. A line is a floor, the lowest last; an upper floor may import a lower one, and names that share a line may not
import one another. A name is a file or a folder of the crate's `src`. `lib.rs` has no floor: it only declares modules.

An import is a path that begins with `crate`, `self` or `super`, or with a module that the file declares. It leads to
the file of the innermost module that the path names, so that `super::Type` leads to the parent although the parent may
only re-export it. A declaration (`mod name;`) is no import. Code under `#[cfg(test)]` may import what it likes.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.support.paths import ROOT

DOCUMENT = ROOT / "docs" / "dev" / "architecture.md"

Module = tuple[str, ...]
Imports = dict[Path, set[Path]]

BLOCK = re.compile(r"^```layers (?P<crate>\S+)\n(?P<floors>.*?)^```$", re.MULTILINE | re.DOTALL)
# What holds no code: comments, strings (raw ones too) and characters. A lifetime has no second quote.
NO_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(?P<hashes>\#*)".*?"(?P=hashes)|b?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^'\\])'""", re.DOTALL
)
TEST_ONLY = re.compile(r"#\[cfg\(test\)\]\s*")
VISIBILITY = re.compile(r"\bpub\([^)]*\)")
DECLARATION = re.compile(r"\bmod (\w+);")
USE = re.compile(r"\buse ([^;]+);")
ROOTED = re.compile(r"(?<![\w:$])(?:crate|self|super)(?:::\w+)+")


def floors_of(document: str) -> dict[str, list[list[str]]]:
    """The floors of every crate that the document names, the highest first."""
    return {
        block["crate"]: [[name.strip() for name in line.split("|")] for line in block["floors"].splitlines()]
        for block in BLOCK.finditer(document)
    }


def violations(crate: Path, floors: list[list[str]]) -> list[str]:
    """One line for each circle among the files of a crate and for each import that the floors forbid."""
    source = crate / "src"
    imports = imports_of(source)
    return [*circles(source, imports), *against_the_floors(source, imports, floors)]


def imports_of(source: Path) -> Imports:
    """The files that each file imports."""
    files = {module_of(path.relative_to(source)): path for path in sorted(source.rglob("*.rs"))}
    imports: Imports = {}
    for module, path in files.items():
        named = (resolved(module, segments, files) for segments in paths_in(path.read_text()))
        imports[path] = {files[found] for found in named if found is not None and found != module}
    return imports


def module_of(path: Path) -> Module:
    parts = path.with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts


def paths_in(text: str) -> Iterator[list[str]]:
    """Every path in the code that may lead to another file of the crate, as its segments."""
    code = VISIBILITY.sub("pub", without_tests(NO_CODE.sub(" ", text)))
    children = DECLARATION.findall(code)
    for use in USE.finditer(code):
        for segments in use_tree(re.sub(r"\s+", "", re.sub(r"\bas \w+", "", use[1]))):
            if segments[0] in ("crate", "self", "super", *children):
                yield segments
    rest = USE.sub(" ", code)
    yield from (path.split("::") for path in ROOTED.findall(rest))
    for child in children:
        if re.search(rf"(?<![\w:.]){child}::\w", rest):
            yield [child]


def without_tests(code: str) -> str:
    """The code without the items that are compiled for tests only."""
    while match := TEST_ONLY.search(code):
        code = code[: match.start()] + code[end_of_item(code, match.end()) :]
    return code


def end_of_item(code: str, start: int) -> int:
    """Where the item ends that begins at `start`: at its closing brace, or at a semicolon outside of all braces."""
    depth = 0
    for index in range(start, len(code)):
        if code[index] == "{":
            depth += 1
        elif code[index] == "}":
            depth -= 1
        if depth == 0 and code[index] in "};":
            return index + 1
    return len(code)


def use_tree(tree: str) -> Iterator[list[str]]:
    """The paths of a `use` without spaces: `a::{b,c::d}` has two."""
    head, brace, inner = tree.partition("{")
    prefix = [segment for segment in head.split("::") if segment]
    if not brace:
        yield prefix
        return
    depth, part = 0, ""
    for letter in inner[:-1] + ",":
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            if part:
                yield from (
                    [*prefix, *(s for s in segments if s != "self" or not prefix)] for segments in use_tree(part)
                )
            part = ""
        else:
            part += letter


def resolved(module: Module, segments: list[str], files: dict[Module, Path]) -> Module | None:
    """The innermost module of the crate that a path in `module` names."""
    if segments[0] == "crate":
        base: Module = ()
        segments = segments[1:]
    else:
        base = module
        while segments and segments[0] in ("self", "super"):
            base = base[:-1] if segments[0] == "super" else base
            segments = segments[1:]
    target = (*base, *segments)
    while target and target not in files:
        target = target[:-1]
    return target if target in files else None


def circles(source: Path, imports: Imports) -> Iterator[str]:
    """A line for each group of files that reach each other, with one way around it."""

    def shown(path: Path) -> str:
        return path.relative_to(source).as_posix()

    reached = {path: reach(path, imports) for path in imports}
    answer: set[Path] = set()
    for path in imports:
        if path in answer or path not in reached[path]:
            continue
        answer |= {other for other in reached[path] if path in reached[other]}
        way = " -> ".join(shown(step) for step in way_around(path, imports))
        yield f"{crate_of(source)}: these files import each other in a circle: {way}"


def reach(start: Path, imports: Imports) -> set[Path]:
    found: set[Path] = set()
    waiting = [start]
    while waiting:
        new = imports[waiting.pop()] - found
        found |= new
        waiting.extend(new)
    return found


def way_around(start: Path, imports: Imports) -> list[Path]:
    """The shortest way from a file back to itself."""
    ways = [[start]]
    while ways:
        way = ways.pop(0)
        for target in sorted(imports[way[-1]]):
            if target == start:
                return [*way, start]
            if all(target not in other for other in ways) and target not in way:
                ways.append([*way, target])
    raise AssertionError("the file is on no circle")


def against_the_floors(source: Path, imports: Imports, floors: list[list[str]]) -> Iterator[str]:
    height = {name: len(floors) - index for index, floor in enumerate(floors) for name in floor}
    names = {path: floor_name(path.relative_to(source), height) for path in imports}
    for name in sorted(height.keys() - set(names.values())):
        yield f"{crate_of(source)}: no file belongs to {name}, which has a floor"
    for path, targets in imports.items():
        file, own = path.relative_to(source).as_posix(), names[path]
        if path == source / "lib.rs":
            continue
        if own is None:
            yield f"{crate_of(source)}: {file} has no floor"
            continue
        for target in sorted(targets):
            other = names[target]
            if other is not None and other != own and height[other] >= height[own]:
                imported = target.relative_to(source).as_posix()
                yield f"{crate_of(source)}: {file} imports {imported}, but {own} stands no higher than {other}"


def crate_of(source: Path) -> str:
    return source.parent.name


def floor_name(path: Path, height: dict[str, int]) -> str | None:
    """The innermost name of the floors that a file belongs to."""
    parts = path.with_suffix("").parts
    ends = range(len(parts), 0, -1)
    return next((name for end in ends if (name := "/".join(parts[:end])) in height), None)


def main() -> None:
    crates = floors_of(DOCUMENT.read_text())
    sys.exit("\n".join(line for crate, floors in crates.items() for line in violations(ROOT / crate, floors)) or 0)


if __name__ == "__main__":
    main()
