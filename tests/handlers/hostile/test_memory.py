"""An attempt needs a limited amount of memory, whatever the target sends. The tests measure the peak."""

import pytest

from tests.handlers.hostile.case import Case, attempt
from tests.handlers.hostile.memory import measured

pytestmark = pytest.mark.e2e

# The read buffer, 64 KiB each for a line, a field and values, 10 KiB of text, a TLS record, and the allocator's share.
HTTP1_BYTES_MAX = 2 * 1024 * 1024
# A frame, the fields that a handler reads, each up to 64 KiB, and what TLS needs.
HTTP2_BYTES_MAX = 2 * 1024 * 1024

FLOODS = [
    "chunk-extensions",
    "endless-body",
    "endless-folds",
    "endless-header-line",
    "endless-kept-headers",
    "endless-status-line",
    "endless-tiny-headers",
    "headers-of-16-mib",
    "interim-responses",
    "long-wrong-line",
    "noise",
]
REDIRECTS = ["redirect-to-a-long-target", "redirect-to-a-wrong-target", "redirect-to-itself-with-bodies"]
HANDSHAKES = ["tls-empty-records", "tls-endless-message", "tls-garbage", "tls-long-record", "tls-warnings"]
FRAMES = [
    "h2-continuations",
    "h2-empty-data",
    "h2-endless-data",
    "h2-grpc-long-message",
    "h2-grpc-long-status",
    "h2-grpc-messages",
    "h2-header-bomb",
    "h2-pings-unread",
    "h2-settings-unread",
    "h2-unknown-frames",
]
# The frames that only the timeout ends.
ENDLESS = {"h2-pings-unread", "h2-settings-unread", "h2-unknown-frames"}


def case(behaviour: str, handler: str) -> Case:
    return Case(behaviour, "", "", handler=handler, runs_out=behaviour.removeprefix("https-") in ENDLESS)


CASES = [
    *((case(name, "httpGet"), HTTP1_BYTES_MAX) for name in [*FLOODS, *REDIRECTS]),
    *((case(f"https-{name}", "https"), HTTP1_BYTES_MAX) for name in FLOODS),
    *((case(name, "https"), HTTP1_BYTES_MAX) for name in HANDSHAKES),
    *((case(f"https-{name}", "https"), HTTP2_BYTES_MAX) for name in FRAMES),
    *((case(name, "grpc"), HTTP2_BYTES_MAX) for name in FRAMES),
]


@pytest.fixture(scope="module")
def warm(ports: dict[str, int]) -> dict[str, int]:
    """Runs each handler once first, so that memory which a process needs once does not count as an attempt's."""
    for name, handler in (("answer-kept-open", "httpGet"), ("https-answer-kept-open", "https"), ("h2-cut", "grpc")):
        attempt(Case(name, "", "", handler=handler), ports)
    return ports


@pytest.mark.parametrize(("case", "bytes_max"), [pytest.param(*pair, id=str(pair[0])) for pair in CASES])
def test_the_peak_memory_of_an_attempt_has_a_limit(case: Case, bytes_max: int, warm: dict[str, int]) -> None:
    with measured() as growth:
        attempt(case, warm)
    assert growth.peak_bytes <= bytes_max
