"""Cases that code writes, by the file that holds them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.handlers.recorder.made import address, alpha, gzip

RELEASES: Mapping[str, str] = {"release_1_34": "1.34.4", "release_1_35": "1.35.4", "release_1_37": "1.37.2"}
"""The release that records the files of a folder; the others are recorded with ``RELEASE``."""
RELEASE = "1.36.3"

MADE: Mapping[str, Callable[[], Iterator[dict[str, Any]]]] = {
    "own/address.jsonl": address.cases,
    "own/gzip.jsonl": gzip.cases,
    "release_1_37/grpc_tls.jsonl": alpha.grpc_tls,
    "release_1_37/h2c.jsonl": alpha.h2c,
}
