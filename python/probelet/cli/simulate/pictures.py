"""The pictures that ``probelet simulate`` writes."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from probelet.cli.exit import CliError, Exit

if TYPE_CHECKING:
    from probelet.lab.picture.document import SimulateDocument


@dataclass(frozen=True)
class Pictures:
    """Which files are to be written."""

    html: Path | None
    svg: Path | None
    perfetto: Path | None

    @property
    def wanted(self) -> bool:
        """Whether there is any."""
        return any((self.html, self.svg, self.perfetto))

    def check(self) -> None:
        """Raises ``CliError`` for a file that cannot be written, before a simulation that may take long."""
        for path in (self.html, self.svg, self.perfetto):
            if path is not None and not path.absolute().parent.is_dir():
                raise CliError(f"{path}: there is no directory {path.parent}")
            if path is not None and path.is_dir():
                raise CliError(f"{path}: is a directory; want a file")

    def write(self, document: "SimulateDocument") -> None:
        """Writes the files. Raises ``CliError``, one line, for one that cannot be written."""
        if self.html is not None:
            from probelet.lab.picture.page import page

            _write(self.html, page(document).encode())
        if self.svg is not None:
            from probelet.lab.picture.svg import svg

            _write(self.svg, svg(document).encode())
        if self.perfetto is not None:
            from probelet.lab.picture.perfetto import trace

            _write(self.perfetto, trace(document))


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise CliError(f"{path}: {error.strerror}", code=Exit.CANNOT) from error
