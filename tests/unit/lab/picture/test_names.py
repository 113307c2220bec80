"""Runs are called by what differs between them."""

import pytest
from probelet.lab.picture.wording import names_of, title_of

from tests.unit.lab.picture.documents import run_of
from tests.unit.lab.picture.scenes import slow_dependency
from tests.unit.lab.picture.test_page import compared


@pytest.mark.parametrize(
    ("manifests", "names"),
    [
        ([["examples/lab/server.yaml"]], ["server"]),
        ([["web.yaml"], ["web-apart.yaml"]], ["web", "web-apart"]),
        ([["lab/a.yaml"], ["lab/b.yaml"]], ["a", "b"]),
        ([["old/web.yaml"], ["new/web.yaml"]], ["old", "new"]),
        ([["deploy/old/web.yaml", "deploy/service.yaml"], ["deploy/new/web.yaml"]], ["old/web, service", "new/web"]),
        ([["web"], ["web/next"]], ["web", "web/next"]),
        ([["web.yaml"], ["web.yaml"]], ["web", "web"]),
        ([["/dev/stdin"], ["/srv/web.yaml"]], ["dev/stdin", "srv/web"]),
    ],
)
def test_names_have_what_paths_have_not_in_common(manifests: list[list[str]], names: list[str]) -> None:
    assert names_of([run_of(slow_dependency(), each) for each in manifests]) == names


def test_with_the_guard_the_manifests_are_the_same_and_the_deciders_differ() -> None:
    made = compared()
    plain, guarded = run_of(made, ["web.yaml"]), run_of(made, ["web.yaml"])
    guarded["guard"] = {"restarts": 0, "decided": []}  # type: ignore[typeddict-item]
    assert names_of([plain, guarded]) == ["each kubelet decides", "enhanced liveness"]


def test_a_title_says_what_was_compared_or_how_it_ended() -> None:
    assert title_of(compared()).startswith("web beside web-apart: ")
    assert title_of(slow_dependency()).startswith("Recovers ")
