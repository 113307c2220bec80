import pytest

from tests.unit.cli.conftest import Probelet


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("bench htp", 'probelet bench: there is no handler "htp"; did you mean "http"?\n'),
        ("bench http --workers 0", "probelet bench: --workers: must be above 0\n"),
        ("bench http --workers many", '"many" is not a number from 0 to 262144\n'),
        ("bench http --period 1500ms", '"1500ms" is not a whole number of seconds, as periodSeconds is; want 1s or'),
        ("bench http --duration 10", '"10" is not a duration above zero; want for example 60s, 1m30s or 500ms\n'),
        ("bench http --target somewhere:80", 'probelet bench: --target: "somewhere:80": the host must be an IPv4'),
        ("bench http --faulty 127.0.0.1:9", 'probelet bench: --faulty: "127.0.0.1:9": want HOST:PORT=PERCENT'),
        ("bench exec --target 127.0.0.1:9", "probelet bench: --target and --faulty do not apply to exec: "),
    ],
)
def test_bad_usage_is_one_line_without_a_measurement(probelet: Probelet, line: str, said: str) -> None:
    ended = probelet(*line.split())
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert "measuring" not in ended.err
