import json

from probelet import _rust

from tests.unit.cli.conftest import Probelet


def test_the_version_is_that_of_the_core_everywhere(probelet: Probelet) -> None:
    assert probelet("--version").out == f"{_rust.version()}\n"
    assert probelet("version").out.startswith(f"probelet {_rust.version()} (prober of Kubernetes 1.36.3, Python 3.")


def test_json_has_a_schema(probelet: Probelet) -> None:
    found = json.loads(probelet("version", "-o", "json").out)
    assert found["schema"] == "probelet-version/1"
    assert (found["probelet"], found["kubernetes"]) == (_rust.version(), "1.36.3")
