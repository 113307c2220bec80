"""What ``import probelet`` gives, and what it costs."""

import subprocess
import sys

import probelet
import pytest
from probelet import _rust, spec

LOOK = "import sys, probelet; print(*sorted(name for name in sys.modules if name.startswith('probelet')))"


@pytest.mark.parametrize("name", probelet.__all__)
def test_every_promised_name_is_there_and_listed(name: str) -> None:
    assert getattr(probelet, name) is getattr(probelet, name)
    assert name in dir(probelet)


def test_names_are_those_of_the_parts() -> None:
    assert (probelet.Prober, probelet.Simulation) == (_rust.Engine, _rust.Simulation)
    assert (probelet.Probe, probelet.HTTPGetAction) == (spec.Probe, spec.HTTPGetAction)
    assert probelet.__version__ == _rust.version()


def test_a_name_that_is_not_promised_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'probelet' has no attribute 'Worker'"):
        probelet.Worker  # type: ignore[attr-defined]  # noqa: B018


def test_importing_the_package_imports_nothing_of_it() -> None:
    assert subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True).stdout == "probelet\n"
