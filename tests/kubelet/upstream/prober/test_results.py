"""kubelet prober/results/results_manager_test.go, 1.36: rows C1 to C5. With threshold 1 each run calls Set once."""

import msgspec
import pytest
from probelet_conformance.play import KUBELET_WORDS

from tests.kubelet.upstream.manager import Manager, container, running
from tests.kubelet.upstream.row import row
from tests.kubelet.upstream.worker import HOUR_MS

FOO, BAR = "test://foo", "test://bar"


class Cache:
    """The readiness cache of two containers that are older than the prober, so that only runs set results."""

    def __init__(self) -> None:
        self.manager = Manager()
        probed = [container(name, "readiness") for name in ("foo", "bar")]
        for each in probed:
            each["readinessProbe"]["failureThreshold"] = 1
        self.manager.define("pod", probed)
        started = {"started": True, "started_at_ms": -HOUR_MS - 60_000}
        self.manager.status("pod", running("foo", FOO, **started), running("bar", BAR, **started))
        self.manager.simulation.add_pod("pod")
        self.middle_ms = -500

    def set(self, foo: str, bar: str) -> list[tuple[str, str]]:
        """Sets foo, then bar; returns the updates that were sent."""
        for name, outcome, delay_ms in (("foo", foo, 1), ("bar", bar, 2)):
            step = {"outcome": {"Success": "success", "Failure": "failure"}[outcome], "delay_ms": delay_ms}
            self.manager.simulation.script(f"pod/{name}/readiness", msgspec.json.encode([step]))
        # Stop in the middle between two ticks, so that the next run gets the next answers.
        self.middle_ms += 1000
        self.manager.simulation.run_until(self.middle_ms)
        return self.updates()

    def get(self, container_id: str) -> str | None:
        return self.manager.simulation.result("readiness", container_id)

    def updates(self) -> list[tuple[str, str]]:
        lines = msgspec.json.decode(self.manager.simulation.take_records())
        return [(line["container_id"], line["result"]) for line in lines if line["section"] == "updates"]


@row("C1")
def test_the_cache_forgets_the_results_of_a_removed_pod(row: str) -> None:
    cache = Cache()
    assert cache.get(FOO) is None
    cache.set("Success", "Success")
    assert cache.get(FOO) == "Success"
    cache.manager.simulation.remove_pod("pod")
    cache.manager.run(1)
    assert cache.get(FOO) is None
    assert cache.updates() == [], "a removal sends no update"


@pytest.mark.parametrize("rounds", [pytest.param(1, id="C2"), pytest.param(2, id="C3"), pytest.param(3, id="C4")])
def test_only_a_changed_result_sends_an_update(rounds: int) -> None:
    cache = Cache()
    updates = [cache.set("Success", "Failure"), cache.set("Success", "Failure"), cache.set("Failure", "Success")]
    expected = [[(FOO, "Success"), (BAR, "Failure")], [], [(FOO, "Failure"), (BAR, "Success")]]
    assert updates[:rounds] == expected[:rounds]


@row("C5-text")
def test_results_print_as_the_kubelet_prints_them(row: str) -> None:
    words = {each: KUBELET_WORDS.get(each, each) for each in ("Success", "Failure", "Unknown")}
    assert words == {"Success": "Success", "Failure": "Failure", "Unknown": "UNKNOWN"}
