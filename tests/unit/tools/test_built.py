"""A program of the tests is compiled again if and only if a source is newer."""

import os
from pathlib import Path

from tests.support.paths import built


def test_only_a_newer_source_is_compiled(tmp_path: Path) -> None:
    sources = [tmp_path / "a.c", tmp_path / "b.h"]
    for source in sources:
        source.touch()
        os.utime(source, (1_000, 1_000))
    made: list[Path] = []

    def build(path: Path) -> None:
        made.append(path)
        path.write_text(f"{len(made)}")

    program = tmp_path / "build" / "program"
    for _ in range(2):
        assert built(program, sources, build).read_text() == "1"
    later = program.stat().st_mtime + 1
    os.utime(sources[1], (later, later))
    assert built(program, sources, build).read_text() == "2"
    assert [path.name for path in program.parent.iterdir()] == ["program"], "nothing else is left"
