"""What is drawn where: lanes or a heat map, bands of faults, the way to the recovery, marks, and the legend."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from probelet.lab.picture.document import FaultRow, PodRow, SimulateDocument
from probelet.lab.picture.heat_map import LANES_MAX, ROWS_MAX
from probelet.lab.picture.timeline import NARROW, WIDE, Detail, draw

from tests.unit.lab.picture.documents import document, pod, probe, requests, service, spans, verdict
from tests.unit.lab.picture.scenes import bad_rollout, crash_loop, empty, slow_dependency

FINE = Detail(1.0, has_titles=True)


def drawn(made: SimulateDocument, width: float = WIDE) -> ElementTree.Element:
    return ElementTree.fromstring(f"<svg>{draw(made, width, FINE).markup}</svg>")


def titles(root: ElementTree.Element, css: str) -> list[str]:
    """The titles of the elements with a class, in order."""
    return [each.findtext("title", "") for each in root.iter() if each.get("class") == css]


def texts(root: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in root.iter("text")]


def scene(pods: list[PodRow], faults: list[FaultRow] | None = None, seconds: float = 100.0) -> SimulateDocument:
    return document("s", "t", seconds, faults or [], pods, [], verdict())


def fault(label: str, begin: float, end: float | None) -> FaultRow:
    return {"kind": "k", "target": "auth", "label": label, "from_seconds": begin, "to_seconds": end}


@pytest.mark.parametrize("count", [1, 12, 13, LANES_MAX])
def test_up_to_40_pods_have_a_lane_each(count: int) -> None:
    found = drawn(scene([pod(f"default/p-{n}", spans(100.0, ("ready", 0.0)), []) for n in range(count)]))
    assert [title for title in titles(found, "r") if title.startswith("ready")] == ["ready 100 s, 0 s to 100 s"] * count
    assert [text for text in texts(found) if text.startswith("p-")] == [f"p-{n}" for n in range(count)]
    assert titles(found, "hr") == []


def test_more_pods_have_a_heat_map_with_a_row_each() -> None:
    made = bad_rollout(LANES_MAX + 1)
    found = drawn(made)
    rows = [title.partition(":")[0] for title in titles(found, "i")]
    assert rows == [row["name"] for row in made["pods"]]
    (ready,) = [each for each in found.iter("path") if each.get("class") == "hr" and "hw" not in str(each.get("class"))]
    assert str(ready.get("d")).count("M") == sum(row["version"] == 1 for row in made["pods"])


def test_a_heat_map_of_very_many_pods_has_rows_for_several() -> None:
    found = drawn(bad_rollout(1_000))
    rows = titles(found, "i")
    assert len(rows) == 250 <= ROWS_MAX
    assert any("4 to a row" in text for text in texts(found))
    assert rows[0].count("default/web-") == 4


@pytest.mark.parametrize(
    ("count", "width", "left", "right"), [(3, WIDE, 150, 178), (45, WIDE, 52, 140), (3, NARROW, 52, 0)]
)
def test_no_pod_is_drawn_after_it_is_gone(count: int, width: float, left: float, right: float) -> None:
    life = spans(100.0, ("starting", 0.0), ("unready", 10.0), ("gone", 50.0))
    found = drawn(scene([pod(f"default/p-{n}", life, []) for n in range(count)]), width)
    bars = [str(each.get("d")) for each in found.iter("path") if each.get("class") in ("qu", "hu")]
    ends = [float(x) for bar in bars for x in re.findall(r"H([\d.]+)", bar)]
    assert max(ends) == pytest.approx((left + width - right) / 2, abs=1)


def test_a_fault_is_a_band_with_its_label() -> None:
    made = scene([], [fault("slow", 20.0, 60.0), fault("forever", 50.0, None), fault("now", 90.0, 90.0)])
    found = drawn(made)
    assert titles(found, "F") == ["slow: 20 s to 60 s", "forever: from 50 s on", "now: at 90 s"]
    widths = [float(each.get("width", "0")) for each in found.iter("rect") if each.get("class") == "F"]
    plot = widths[0] / 0.4
    assert widths == [pytest.approx(0.4 * plot), pytest.approx(0.5 * plot, abs=0.2), 1.5]
    assert {"slow", "forever", "now"} <= {*texts(found)}


def test_labels_of_faults_never_overlap() -> None:
    made = scene([], [fault(f"a fault with a long label {n}", 2.0 * n, 2.0 * n + 30) for n in range(30)])
    for width in (WIDE, NARROW):
        rows: dict[str, list[tuple[float, float]]] = {}
        for each in drawn(made, width).iter("text"):
            if (each.text or "").startswith("a fault"):
                begin = float(each.get("x", "0"))
                rows.setdefault(each.get("y", ""), []).append((begin, begin + len(each.text or "") * 11 * 0.6))
        assert rows
        for places in rows.values():
            assert all(left[1] <= right[0] for left, right in pairwise(places))
        assert any(re.fullmatch(r"and \d+ more faults", text) for text in texts(drawn(made, width)))


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (slow_dependency(), "recovers after 43.7 s"),
        (bad_rollout(), "never recovers"),
        (crash_loop(), "never recovers"),
    ],
    ids=["slow", "rollout", "crash"],
)
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_way_to_the_recovery_is_drawn(made: SimulateDocument, words: str, width: float) -> None:
    assert words in texts(drawn(made, width))


def test_the_recovery_begins_at_the_end_of_the_last_fault() -> None:
    made = slow_dependency()
    (path,) = [str(each.get("d")) for each in drawn(made).iter("path") if each.get("class") == "d"]
    left, right = (float(x) for x in re.findall(r"M([\d.]+)", path)[:2])
    plot = WIDE - 150 - 178
    assert left == pytest.approx(150 + plot * 150 / 600, abs=0.1)
    assert right - left == pytest.approx(plot * 43.7 / 600, abs=0.1)


def test_an_interrupted_simulation_says_so() -> None:
    made = bad_rollout()
    made["played_seconds"] = 900.0
    found = drawn(made)
    assert "interrupted at 15 min" in texts(found)
    assert "not simulated" in titles(found, "P")


def test_kills_are_crosses_and_own_ends_diamonds() -> None:
    row = pod(
        "default/p",
        spans(100.0, ("ready", 0.0), ("terminating", 20.0), ("ready", 22.0), ("starting", 70.0), ("ready", 80.0)),
        [],
        [(20.0, "liveness")],
        exits=[
            {"at_seconds": 22.0, "container": "app", "exit_code": 137, "reason": "Error"},
            {"at_seconds": 70.0, "container": "app", "exit_code": 1, "reason": "Error"},
        ],
    )
    found = drawn(scene([row]))
    assert [title for title in titles(found, "k") if title] == [
        "killed by its liveness probe at 20 s: Container app failed liveness probe, will be restarted"
    ]
    assert [title for title in titles(found, "x") if title] == ["app ended by itself at 70 s: exit code 1, Error"]


def test_a_strip_says_where_its_attempts_end() -> None:
    made = probe("liveness", 1.0, 10.0, [(10.0, 0.1, "s", "ok"), (20.0, 0.1, "s", "ok")])
    made["dropped"] = 1_234
    row = pod("default/p", spans(100.0, ("ready", 0.0)), [made])
    assert "1,234 attempts not kept" in texts(drawn(scene([row])))
    made["dropped"] = 0
    assert not any("not kept" in text for text in texts(drawn(scene([row]))))


def test_a_failure_says_its_cause() -> None:
    rows = [
        (10.0, 0.1, "s", "ok"),
        (20.0, 1.0, "t", "header_timeout"),
        (30.0, 1.0, "t", "body"),
        (40.0, 0.0, "f", "refused"),
    ]
    row = pod("default/p", spans(100.0, ("ready", 0.0)), [probe("liveness", 1.0, 10.0, rows)])
    assert titles(drawn(scene([row])), "i") == [
        "liveness of app: 2 times timeout (header_timeout, body), 20 s to 30 s, took up to 1 s",
        "liveness of app: 1 times no connection (refused), at 40 s, took up to 0 s",
    ]


def test_the_legend_has_what_the_picture_has() -> None:
    assert [text for text in texts(drawn(empty())) if text == "ready"] == []
    words = {*texts(drawn(slow_dependency()))}
    assert {"served in time, ready", "served late", "lost", "not ready", "killed by a probe", "timeout"} <= words
    assert not {"no connection", "an answer that says no"} & words
    assert {"no connection", "an answer that says no", "ended by itself"} <= {*texts(drawn(crash_loop()))}


def test_only_the_services_that_lost_most_have_a_panel() -> None:
    points = [(0.0, 10.0, 0.0, 1.0, 1, 1)]
    services = [service(points, requests(1_000, 0, lost), f"default/s{lost}") for lost in (5, 90, 7, 80, 60, 70)]
    made = document("s", "t", 100.0, [], [], services, verdict())
    found = texts(drawn(made))
    assert [text for text in found if text.startswith("requests per second")] == [
        f"requests per second to default/s{lost}" for lost in (90, 80, 60, 70)
    ]
    assert "2 more Services, 12 requests lost" in found


def test_a_lane_shows_its_states_by_more_than_colour() -> None:
    states = ["pending", "starting", "unready", "ready", "terminating", "back_off"]
    row = pod("default/p", spans(60.0, *((state, 10.0 * n) for n, state in enumerate(states))), [])  # type: ignore[misc]
    found = drawn(scene([row], seconds=60.0))
    heights = {}
    for css in ("p", "qs", "qu", "r", "qt", "qb"):
        (path,) = [
            str(each.get("d"))
            for each in found.iter("path")
            if each.get("class") == css and "10 s" in each.findtext("title", "")
        ]
        heights[css] = float(re.findall(r"v([\d.]+)", path)[0])
    assert {css for css, height in heights.items() if height == max(heights.values())} == {"r"}
