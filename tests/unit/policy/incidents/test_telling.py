"""The words about an incident in events, logs and timelines."""

import pytest
from probelet.policy.incidents import Began, Ended, Incident, telling

ONE = Incident("1a2-3", "container", 0, shared="container", value="default/web/app", evidence="its probe failed")
SHARED = Incident("1a2-4", "shared", 0, shared="target", value="db:5432", evidence="3 of 3 pods fail")
UNNAMED = Incident("1a2-5", "prober", 0, evidence="attempts were late")


@pytest.mark.parametrize(
    ("incident", "words"),
    [
        (ONE, "begins: container default/web/app: its probe failed"),
        (SHARED, "begins: shared target db:5432: 3 of 3 pods fail"),
        (UNNAMED, "begins: prober: attempts were late"),
    ],
)
def test_the_beginning_names_kind_and_thing_once(incident: Incident, words: str) -> None:
    assert telling(Began(incident)) == words


def test_the_end_names_them_once_too() -> None:
    assert telling(Ended(ONE)) == "is over: container default/web/app: 0 kills"
