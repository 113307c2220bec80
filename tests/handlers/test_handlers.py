"""Every recorded case of the kubelet's handlers, played against ours on real sockets."""

import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from .case import Case, load
from .compare import Seen, differences
from .player import play

# A recorded server speaks TLS 1.0 and 1.1, which Python calls deprecated.
OLD_TLS = pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120), OLD_TLS]

# Cases at a time. Most of a case is waiting; more than this would make the prober late on two cores.
PLAYED_AT_A_TIME = 12

CASES = load()
# What differs, by case: {"differs": kinds of difference, "reason"}. Anything else must be equal there too.
KNOWN = json.loads((Path(__file__).parent / "known.json").read_text())

if not CASES:
    pytest.skip("no recordings in tests/conformance/handlers", allow_module_level=True)


@pytest.fixture(scope="module")
def played(request: pytest.FixtureRequest) -> Iterator[dict[str, Future[Seen]]]:
    """All cases that were selected, on their way at once."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function) and hasattr(item, "callspec")]
    selected: list[Case] = [case for item in items if isinstance(case := item.callspec.params.get("case"), Case)]
    with ThreadPoolExecutor(PLAYED_AT_A_TIME) as pool:
        yield {case.name: pool.submit(play, case) for case in selected}


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_the_handler_says_what_the_kubelet_says(case: Case, played: dict[str, Future[Seen]]) -> None:
    found = differences(case, played[case.name].result())
    expected = set(KNOWN[case.name]["differs"]) if case.name in KNOWN else set()
    lines = "\n".join(line for listed in found.values() for line in listed)
    assert set(found) == expected, f"{case.reason}\n{lines}"


def test_every_known_difference_is_a_case() -> None:
    assert set(KNOWN) <= {case.name for case in CASES}
