"""The engine as policy sees it."""

from typing import Any

import msgspec

from probelet._rust import Engine
from probelet.policy.plan import ResultName
from probelet.spec.model.probe import ProbeType


class EngineProber:
    """Results and statuses, read from the engine at the moment they are asked for."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def result(self, probe_type: ProbeType, container_id: str) -> ResultName | None:
        """The published result of a container instance."""
        return self._engine.result(probe_type, container_id)

    def started(self, pod_uid: str, container: str) -> bool:
        """Whether the container's status, as last set, says started."""
        status = status_of(self._engine, pod_uid)
        rows = (*status.get("containers", ()), *status.get("init_containers", ()))
        return any(row["name"] == container and bool(row.get("started")) for row in rows)


def status_of(engine: Engine, uid: str) -> dict[str, Any]:
    """The status of a pod as the engine has it; empty for one without."""
    status = engine.status(uid)
    return {} if status is None else msgspec.json.decode(status)
