"""``python -m tools.image``, as the Makefile calls it. Exit code 2 and one line for a mistake."""

import argparse
import os
import subprocess
import sys
import tomllib
from pathlib import Path

from tools.image.archive import write_archive
from tools.image.build import Build, write_root
from tools.image.layer import Layer
from tools.image.root import ImageError

ROOT = Path(__file__).parents[2]
COMPRESSED_BYTES_MAX = 120 << 20
"""A node pulls the image before its first probe: a limit of the project's own."""

MIB = 1 << 20


def main() -> None:
    parser = argparse.ArgumentParser(prog="make image")
    parser.add_argument("--output", type=Path, required=True, help="the archive")
    parser.add_argument("--work", type=Path, required=True, help="the folder that later runs use again")
    parser.add_argument("--base", default="", help="a folder or tar file with a root file system")
    parser.add_argument("--name", default="", help="the image's name; its version becomes the tag if it has none")
    parser.add_argument("--root", type=Path, help="write the root file system into this folder, and no archive")
    given = parser.parse_args()
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    try:
        epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
        layers = Build(ROOT, given.work, given.base, epoch).layers()
        if given.root:
            write_root(layers, given.root)
            return
        name = given.name if ":" in given.name.rpartition("/")[2] else f"{given.name}:{version}"
        digest = write_archive(given.output, name, layers, version, epoch)
        print(summary(layers, name, given.output, digest))
    except (ImageError, OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"make image: {error}", file=sys.stderr)
        sys.exit(2)


def summary(layers: dict[str, Layer], name: str, output: Path, digest: str) -> str:
    """The layers with their sizes. Raises ImageError if the image is larger than the project allows."""
    total = sum(layer.bytes for layer in layers.values())
    if total > COMPRESSED_BYTES_MAX:
        raise ImageError(f"{total / MIB:.1f} MiB compressed; at most {COMPRESSED_BYTES_MAX // MIB} MiB are allowed")
    lines = [
        f"{layer:9} {one.bytes / MIB:6.1f} MiB compressed {one.unpacked_bytes / MIB:7.1f} MiB unpacked"
        for layer, one in layers.items()
    ]
    return "\n".join([*lines, f"{name} sha256:{digest}", f"{output}: {total / MIB:.1f} MiB compressed"])


if __name__ == "__main__":
    main()
