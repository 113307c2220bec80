"""The probes of each of the pods: 0.26 a second."""

from typing import Final

READINESS_SECONDS: Final = 5
LIVENESS_SECONDS: Final = 17
