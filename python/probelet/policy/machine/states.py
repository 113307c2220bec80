"""The states of a pod's machine: how far the pod is in its life, and what its one programme does.

A programme is one run of SyncPod, SyncTerminatingPod or SyncTerminatedPod (kubelet pkg/kubelet/pod_workers.go, 1.36).
The machine runs one at a time, and each decides on the snapshot that it begins with.

The pod
| state       | input or end of a programme                   | next state  |
| ----------- | --------------------------------------------- | ----------- |
| syncing     | a sync finds that the pod runs on             | syncing     |
| syncing     | a sync finds phase Succeeded or Failed        | terminating |
| syncing     | Terminate                                     | terminating |
| terminating | Terminate                                     | terminating |
| terminating | a container still runs after the kill         | terminating |
| terminating | every container has ended                     | terminated  |
| terminated  | Terminate                                     | terminated  |
| terminated  | a removal failed                              | terminated  |
| terminated  | removed: the runtime has nothing of it left   | gone        |
| gone        | Terminate                                     | gone        |

The programme
| state      | input or end of a programme                    | next state |
| ---------- | ---------------------------------------------- | ---------- |
| unseen     | SyncRequested                                  | unseen     |
| unseen     | Terminate                                      | unseen     |
| unseen     | Observed                                       | running    |
| idle       | Observed without news                          | idle       |
| idle       | Release of a container that does not wait      | idle       |
| idle       | Observed with news                             | running    |
| idle       | SyncRequested                                  | running    |
| idle       | Due                                            | running    |
| idle       | Release of a container that waits              | running    |
| idle       | Restart                                        | running    |
| idle       | Change                                         | running    |
| idle       | Terminate                                      | running    |
| running    | SyncRequested                                  | running    |
| running    | Change                                         | running    |
| running    | its last step ends and no sync is requested    | idle       |
| running    | its last step ends and a sync is requested     | running    |
| running    | Terminate of a syncing pod                     | superseded |
| running    | Terminate with a shorter grace                 | superseded |
| running    | Terminate with no shorter grace                | running    |
| superseded | SyncRequested                                  | superseded |
| superseded | its last call is answered                      | running    |

A pod that has ended by itself stays terminated, with an idle programme, until its manifest goes: Terminate removes it.
A first Terminate of a terminating pod replaces the grace even by a longer one, which a later kill then gets.
"""

from typing import TypeAlias

import msgspec

from probelet.policy.rules.grace import Grace
from probelet.policy.strands.strand import Strands


class Ending(msgspec.Struct, frozen=True):
    """How a pod ends. ``removed``: its manifest is gone, so its containers and sandboxes are removed too.

    ``at_once``: every kill has no grace at all.
    """

    grace: Grace
    at_once: bool = False
    removed: bool = False


class Syncing(msgspec.Struct, frozen=True):
    """The pod is kept as its manifest asks."""


class Terminating(msgspec.Struct, frozen=True):
    """The pod's containers get killed; none starts again."""

    ending: Ending


class Terminated(msgspec.Struct, frozen=True):
    """Every container has ended; once removed, what the runtime still has of the pod is deleted."""

    ending: Ending


class Gone(msgspec.Struct, frozen=True):
    """The runtime has nothing of the pod left."""


PodState: TypeAlias = Syncing | Terminating | Terminated | Gone


class Unseen(msgspec.Struct, frozen=True):
    """No snapshot has come yet, and nothing can be decided without one."""


class Idle(msgspec.Struct, frozen=True):
    """No programme is under way. ``look_at_ns``: when to run one even if nothing happens."""

    look_at_ns: int | None = None


class Running(msgspec.Struct, frozen=True):
    """A programme is under way."""

    strands: Strands


class Superseded(msgspec.Struct, frozen=True):
    """A programme that goes no further: the next one begins when its last call has been answered."""

    strands: Strands


ProgrammeState: TypeAlias = Unseen | Idle | Running | Superseded
