"""The recording of the documentation: ``web`` was killed by its liveness probe after timeouts, ``db`` was not ready."""

import pytest
from probelet.lab.recording import Recording

from tests.support.paths import ROOT

INCIDENT = ROOT / "examples" / "whatif" / "incident.segment"


@pytest.fixture(scope="session")
def incident() -> Recording:
    return Recording(INCIDENT)
