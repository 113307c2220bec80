"""The parts that an executor shares with the rest of the agent."""

from collections.abc import Callable
from dataclasses import dataclass

from probelet.agent.kill.kills import Kills
from probelet.agent.state.json_files import JsonFiles
from probelet.agent.state.records import RequestNote
from probelet.host.tasks import Tasks
from probelet.host.timers import Timers
from probelet.kube.connection import Connection
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.seen.cache import PodCache
from probelet.runtime.seen.inspection import Inspection


@dataclass(frozen=True, slots=True)
class ExecutorParts:
    """``runtime``: the type in ``type://id``. ``request_relist`` asks for a list of the runtime soon; ``observe``: the
    cache has news of a pod."""

    node: str
    runtime: str
    host_ip: str
    client: RuntimeClient
    connection: Connection
    cache: PodCache
    inspection: Inspection
    timers: Timers
    tasks: Tasks
    kills: Kills
    notes: JsonFiles[RequestNote]
    request_relist: Callable[[], None]
    observe: Callable[[str], None]
