"""What an executor shares with the rest of the agent."""

from collections.abc import Callable
from dataclasses import dataclass

from probelet.agent.kill.kills import Kills
from probelet.agent.state.json_files import JsonFiles
from probelet.agent.state.request_note import RequestNote
from probelet.cri.client import RuntimeClient
from probelet.kube.connection import Connection
from probelet.node.runtime.cache import PodCache
from probelet.node.runtime.inspection import Inspection
from probelet.node.tasks import Tasks
from probelet.node.timers import Timers


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
