"""An API server in the test's process, behind real HTTP, that can be made to misbehave.

``KubeApi`` is the server; ``api.connection()`` is a production ``Connection`` to it. A test changes objects by
``api.put`` and ``api.remove`` as other clients would, and says what goes wrong by ``api.faults`` and ``api.watches``.
"""

from tests.support.kube_api.faults import Answer, Delay, Drop, Faults
from tests.support.kube_api.server import KubeApi

__all__ = ["Answer", "Delay", "Drop", "Faults", "KubeApi"]
