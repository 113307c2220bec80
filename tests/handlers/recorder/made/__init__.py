"""Cases that code writes, by the file that holds them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.handlers.recorder.made import address, gzip

MADE: Mapping[str, Callable[[], Iterator[dict[str, Any]]]] = {
    "own/address.jsonl": address.cases,
    "own/gzip.jsonl": gzip.cases,
}
