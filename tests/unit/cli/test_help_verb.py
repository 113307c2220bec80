import pytest

from tests.unit.cli.conftest import Probelet


@pytest.mark.parametrize(
    ("words", "same_as"),
    [
        ([], ["--help"]),
        (["run"], ["run", "--help"]),
        (["probe", "http"], ["probe", "http", "--help"]),
        (["help"], ["help", "--help"]),
    ],
)
def test_help_shows_what_the_flag_shows(probelet: Probelet, words: list[str], same_as: list[str]) -> None:
    ended = probelet("help", *words)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == probelet(*same_as).out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["statu"], 'probelet help: there is no verb "statu"; did you mean "status"?'),
        (["probe", "https"], 'probelet probe: there is no handler "https"; did you mean "http"?'),
    ],
)
def test_a_verb_that_is_none_is_one_line(probelet: Probelet, words: list[str], line: str) -> None:
    ended = probelet("help", *words)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.splitlines()[0] == line
