"""The parts that an executor shares with the rest of the agent."""

from collections.abc import Callable

import msgspec

from probelet.agent.kill.kills import Kills
from probelet.agent.state.json_files import JsonFiles
from probelet.agent.state.records import RequestNote
from probelet.kube.connection import Connection
from probelet.runtime.host import RuntimeHost


class ExecutorParts(msgspec.Struct, frozen=True):
    """``host`` is the agent's; ``observe``: the cache has news of a pod."""

    host: RuntimeHost
    connection: Connection
    kills: Kills
    notes: JsonFiles[RequestNote]
    observe: Callable[[str], None]
