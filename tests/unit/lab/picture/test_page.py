"""The page stands alone, stays small, and says what the document says."""

import copy
import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from probelet.lab.picture.document import SimulateDocument
from probelet.lab.picture.page import BYTES_MAX, page
from probelet.lab.picture.svg import svg

from tests.unit.lab.picture.documents import HOSTILE, pod, requests, run_of, service, spans
from tests.unit.lab.picture.large import restless, talkative
from tests.unit.lab.picture.scenes import bad_rollout, crash_loop, empty, healthy, slow_dependency

Scene = Callable[[], SimulateDocument]

SVG = "{http://www.w3.org/2000/svg}"


def compared() -> SimulateDocument:
    made = slow_dependency()
    made["against"] = run_of(healthy(), ["web-apart.yaml"])
    return made


SCENES: list[Scene] = [slow_dependency, healthy, bad_rollout, crash_loop, empty, compared]


def root_of(text: str) -> ElementTree.Element:
    """The page as XML: every element of it is closed, every attribute quoted."""
    return ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>"))


def words_of(text: str) -> str:
    """What a person reads on the page, but for the titles that a pointer shows."""
    root = root_of(text)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.removeprefix(SVG) in ("title", "style"):
                parent.remove(child)
    return " ".join(" ".join(root.itertext()).split())


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("draw", [page, svg])
def test_a_picture_is_well_formed_and_asks_for_nothing(draw: Callable[[SimulateDocument], str], scene: Scene) -> None:
    text = draw(scene())
    root_of(text)
    assert [url for url in re.findall(r"\w+://[^\"' ]*", text) if url != "http://www.w3.org/2000/svg"] == []
    assert re.findall(r"(?:src|href|srcset|action)\s*=|@import|<(?:script|link|img|iframe|object|embed)\b", text) == []
    assert {*re.findall(r"url\(([^)]*)\)", text)} <= {"#ts", "#tu", "#tb", "#tt", "#tl"}


def test_the_policy_of_the_page_forbids_everything_but_its_style() -> None:
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'\"" in page(slow_dependency())


@pytest.mark.parametrize("scene", [slow_dependency, crash_loop])
@pytest.mark.parametrize("draw", [page, svg])
def test_a_picture_is_light_and_dark(draw: Callable[[SimulateDocument], str], scene: Scene) -> None:
    text = draw(scene())
    dark = "".join(re.findall(r"prefers-color-scheme:dark\)\{(.*?\})\}", text))
    for colour in ("#ffffff", "#cf3a2b"):
        assert colour in text
        assert colour not in dark
    for colour in ("#14181c", "#d9503f"):
        assert colour in dark


def test_paper_is_light() -> None:
    text = page(slow_dependency())
    assert text.count("prefers-color-scheme:dark") == text.count("@media screen and (prefers-color-scheme:dark)") == 2
    assert "@media print" in text


@pytest.mark.parametrize(
    "scene",
    [
        pytest.param(lambda: restless(40), id="40"),
        pytest.param(lambda: restless(41), id="41", marks=pytest.mark.slow),
        pytest.param(lambda: restless(1000, 4, 30), id="1000", marks=pytest.mark.slow),
        pytest.param(talkative, id="talkative", marks=pytest.mark.slow),
    ],
)
def test_a_picture_of_a_long_simulation_is_small(scene: Scene) -> None:
    made = scene()
    text, alone = page(made), svg(made)
    root_of(text), root_of(alone)
    assert len(text.encode()) < BYTES_MAX == 200_000
    assert len(alone.encode()) < BYTES_MAX


@pytest.mark.slow
def test_a_long_simulation_against_another_is_small_too() -> None:
    made = restless(40)
    made["against"] = run_of(restless(40), ["other.yaml"])
    assert len(page(made).encode()) < BYTES_MAX


@pytest.mark.parametrize("draw", [page, svg])
def test_no_name_becomes_markup(draw: Callable[[SimulateDocument], str]) -> None:
    made = slow_dependency()
    row = made["pods"][0]
    row["name"] = row["node"] = row["workload"] = row["kills"][0]["reason_text"] = HOSTILE
    row["exits"][0]["reason"] = row["exits"][0]["container"] = row["probes"][0]["container"] = HOSTILE
    row["probes"][0]["attempts"]["cause"][6] = HOSTILE
    made["services"][0]["name"] = made["services"][0]["workload"] = HOSTILE
    made["scenario"]["faults"][0]["label"] = made["scenario"]["title"] = made["scenario"]["text"] = HOSTILE
    made["findings"] = made["manifests"] = [HOSTILE]
    made["command"] = made["probelet"] = HOSTILE
    for key in ("object", "path", "old", "new", "why"):
        made["advice"][0][key] = HOSTILE  # type: ignore[literal-required]
    made["events"][0]["message"] = made["events"][0]["reason"] = HOSTILE
    text = draw(made)
    root = root_of(text)
    assert "<script" not in text
    assert {"script"} & {element.tag.removeprefix(SVG) for element in root.iter()} == set()
    assert re.findall("[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e]", text) == []
    assert r"\x1b" in "".join(root.itertext())


@pytest.mark.parametrize("scene", SCENES)
def test_the_numbers_of_the_page_are_those_of_the_document(scene: Scene) -> None:
    made = scene()
    text = words_of(page(made))
    for run in (made, made.get("against", made)):
        found, rows = run["verdict"], run["verdict"]["requests"]
        if rows["lost"]:
            assert f"{rows['lost']:,} ({100 * rows['lost'] / rows['offered']:.3g} %)" in text
        assert f"{found['kills']:,}" in text
        assert f"{found['restarts']:,}" in text
        assert all(finding in text for finding in run["findings"])
    assert made["command"] in text
    assert f"Seed {made['seed']}" in text


@pytest.mark.parametrize(
    ("scene", "words"),
    [
        (slow_dependency, "Recovers 43.7 s after the fault ends"),
        (healthy, "Holds, but answers late"),
        (bad_rollout, "Never recovers"),
        (empty, "Nothing to simulate: no pods"),
    ],
)
def test_the_verdict_stands_on_top(scene: Scene, words: str) -> None:
    heading = root_of(page(scene())).find(".//h1")
    assert heading is not None
    assert heading.text is not None
    assert heading.text[2:] == words
    assert words in words_of(svg(scene()))


def test_an_advice_says_what_its_simulation_gave() -> None:
    text = words_of(page(slow_dependency()))
    assert "1 → 3 An answer in 1.5 s is late" in text
    assert "requests lost 36,137 (20.1 %) → 0" in text
    assert "kills by probes 6 → 0" in text


def test_every_pod_has_a_lane_on_every_screen() -> None:
    made = slow_dependency()
    drawings = root_of(page(made)).findall(".//figure/svg")
    assert [drawing.get("class") for drawing in drawings] == ["wide", "narrow"]
    for drawing in (*drawings, root_of(svg(made))):
        titles = [title.text or "" for title in drawing.iter() if title.tag.removeprefix(SVG) == "title"]
        for row in made["pods"]:
            assert sum(title.startswith(f"{row['name']} on {row['node']}") for title in titles) == 1


def test_the_compared_runs_share_their_axes() -> None:
    made = compared()
    texts = [element.text for element in root_of(svg(made)).iter() if element.tag == f"{SVG}text"]
    assert texts.count("10 min") == 2
    assert texts.index("web") < texts.index("web-apart")
    assert texts.count("300") == 2


def test_a_simulation_that_ended_at_once_has_a_page() -> None:
    made = empty()
    made["scenario"]["duration_seconds"] = made["played_seconds"] = 0.0
    made["services"] = [service([], requests(0, 0, 0))]
    made["pods"] = [pod("default/p", [], []), pod("default/q", spans(0.0, ("pending", 0.0)), [])]
    for draw in (page, svg):
        root_of(draw(made))
    assert "never ran" in words_of(page(made))


def test_equal_documents_give_equal_bytes() -> None:
    made = crash_loop()
    assert page(made) == page(copy.deepcopy(made))
    assert svg(made) == svg(copy.deepcopy(made))
