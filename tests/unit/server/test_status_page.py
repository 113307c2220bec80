from html.parser import HTMLParser
from typing import Any

import pytest
from probelet.server.pages import page
from probelet.server.pages.page import render_page

from tests.unit.server.fake_view import SITUATIONS, container, document, event, last, pod, probe

VOID = {"meta", "br", "link", "input"}
EVIL = "</title></script><script>alert('x')</script>\" onload=\"alert(1) &lt;"


class Outline(HTMLParser):
    """The elements of a page, with the texts outside style and script; fails on a wrong end tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script") and data.strip():
            self.texts.append(data.strip())


def poisoned(value: Any) -> Any:
    """The same document with every free text replaced; times and what we choose ourselves stay."""
    kept = {"as_of", "at", "due_at", "next_at", "state", "kind", "outcome", "result", "type", "schema"}
    if isinstance(value, dict):
        return {key: found if key in kept else poisoned(found) for key, found in value.items()}
    if isinstance(value, list):
        return [poisoned(found) for found in value]
    return EVIL if isinstance(value, str) else value


def test_every_situation_gives_a_well_formed_page() -> None:
    outline = Outline(render_page(SITUATIONS, [event(1), event(2, "Killing")]))
    text = " ".join(outline.texts)
    for words in (
        "liveness fails 2/3",
        "readiness failed 3/3",
        "readiness recovers 1/3",
        "startup fails 4/30",
        "liveness not run yet",
        "CrashLoopBackOff",
        "3, next in 28s",
        "Error (exit 137)",
        "readiness, 10s ago: HTTP probe failed with statuscode: 500",
    ):
        assert words in text


def test_hostile_texts_are_escaped() -> None:
    clean = Outline(render_page(SITUATIONS, [event(1)]))
    hostile = Outline(render_page(poisoned(SITUATIONS), [poisoned(event(1))]))
    assert hostile.tags == clean.tags
    assert hostile.attributes == clean.attributes
    assert EVIL in " ".join(hostile.texts)


def test_pods_in_trouble_come_first() -> None:
    texts = Outline(render_page(document(pod("good", container()), pod("bad", container(ready=False))), [])).texts
    assert texts.index("bad") < texts.index("good")


def test_a_succeeded_pod_is_not_listed_as_trouble() -> None:
    done = pod("done", container(state="terminated", reason="Completed", exit_code=0, ready=False), phase="Succeeded")
    texts = Outline(render_page(document(done, pod("bad", container(ready=False))), [])).texts
    assert texts.index("bad") < texts.index("done")


def test_a_node_without_pods_or_events_shows_so() -> None:
    texts = Outline(render_page(document(), [])).texts
    assert "This node has no pods." in texts
    assert "Nothing has happened yet." in texts


def test_a_pod_without_containers_has_a_row() -> None:
    assert "new" in Outline(render_page(document(pod("new", phase="Pending", ip="")), [])).texts


def test_pods_above_the_limit_are_counted_but_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "PODS_MAX", 2)
    texts = Outline(render_page(document(*(pod(f"pod-{i}", container()) for i in range(5))), [])).texts
    assert "pod-1" in texts
    assert "pod-2" not in texts
    assert "and 3 more pods in the JSON document" in texts


def test_the_newest_event_is_on_top() -> None:
    texts = Outline(render_page(document(), [event(1, message="older"), event(2, message="newer")])).texts
    assert texts.index("newer") < texts.index("older")


def test_the_tooltip_of_a_probe_shows_its_history() -> None:
    tall = pod("web", container(probes={"liveness": probe(runs=7, failures=2, last=last())}))
    text = render_page(document(tall), [])
    assert "httpGet, 7 runs, 2 failures, 0 errors; last 10s ago in 1.25 ms, 0.04 ms late" in text


def test_mistakes_of_the_manifests_are_on_the_page() -> None:
    error = {
        "path": "web.yaml",
        "line": 3,
        "kind": "Deployment",
        "namespace": "",
        "name": "web",
        "field": "spec",
        "message": "x",
    }
    texts = Outline(render_page(document(manifest_errors=[error], manifest_errors_total=3), [])).texts
    assert {"Mistakes in the manifests", "web.yaml:3: Deployment web: spec: x", "and 2 more in the manifests"} <= set(
        texts
    )
    assert EVIL in " ".join(Outline(render_page(document(manifest_errors=[{**poisoned(error), "line": 3}]), [])).texts)
    old = render_page(document(pod("web", container(), manifest_error="web.yaml:3: <b>")), [])
    assert "earlier manifest" in Outline(old).texts
    assert "the newest has a mistake: web.yaml:3: &lt;b&gt;" in old
    assert "Mistakes in the manifests" not in old


@pytest.mark.parametrize("containers", [1, 2])
def test_a_pod_that_another_program_answers_for_names_it_once(containers: int) -> None:
    found = {"port": 8080, "listener": "0.0.0.0:8080", "pod": "", "container": "", "pid": 4711, "program": EVIL}
    of_pod = {**found, "port": 8081, "pod": "default/greedy", "container": "app", "program": "python3"}
    pods = [pod("web", *(container(f"c{n}") for n in range(containers)), foreign_listeners=[found, of_pod])]
    texts = Outline(render_page(document(*pods), [])).texts
    assert texts.count(f"port 8080: program {EVIL} (process 4711) answers here, on 0.0.0.0:8080") == 1
    assert texts.count("port 8081: pod default/greedy answers here, on 0.0.0.0:8080") == 1
