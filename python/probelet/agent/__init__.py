"""Probes of pods that a kubelet runs (``probelet agent``): a guest on a kubelet's node.

The kubelet creates, starts and restarts; the agent probes what the webhook took over of a pod's probes, sets the
condition of its readiness gate, and stops a container whose own liveness or startup probe failed, or that a request is
about. Folders and laws:

- ``state``: the files in the state directory: pods as first seen, intents of kills.
- ``rules``: pure functions: what has begun, the facts for the engine, the condition, the victims.
- ``source``: which pods there are, as the API server says, each as it was first seen. Decides nothing about containers.
- ``kill``: stops a container once for one failure, with every step on disk before it happens.
- ``recreate``: carries out ContainerRecreateRequests, for any pod of the node, by kills of ``kill``.
- ``pod``: a pod and the set of all: the only place where engine, cache, rules and kills meet.
- ``enhanced``: the probes of the node's NodePodProbe, in an engine of their own; their results report, nothing more.
- ``report``: conditions and events to the API server; the latest only while it is away.
- ``show``: the status document, the metrics, and what an operator may ask for.

The agent is a guest on a kubelet's node
----------------------------------------
``probelet agent`` probes pods that a kubelet creates, starts and restarts. So it has no pod machine and no restart
gate; its only effect on the runtime is StopContainer, for a container whose own probe failed. Its laws:

1. A sandbox counts if its pod is one of the agent's and no probelet made it (``AgentService``). Of ``Pleg``,
   ``run`` and the agent use the same code; the composition says which sandboxes count.
2. The annotation is believed once. ``FirstSeen`` (``agent/state/records.py``) keeps the annotation and the definition
   of each pod of the node as first seen for its UID, on disk, before its first probe. A pod that was first seen
   without the annotation stays without. Everything that follows (probes, hooks, grace) comes from that file.
3. A container begins once (``beside/pods/begun.py``): when the runtime has it running and the kubelet's status shows
   that ID running and started, so that postStart hooks and the kubelet's own startup probes are over. While the API
   server is away, the runtime alone decides for containers that have neither. A container that has not begun is
   invisible to everything behind: the engine sees the instance before it, as a kubelet's prober does during a
   postStart hook.
4. A container is started and ready in the first status of its pod by the journal's results (``begin_pod``). Where the
   journal has none, the condition decides, whose message names the instances behind it: files of a node may be lost.
   UpdatePodStatus takes a container without a startup worker for started, and AddPod, which makes the worker, comes
   after it; a kubelet that restarts makes this mistake (kubernetes#142305). The journal of an agent that was killed
   may have the memory of one worker of a container and not yet that of another.
5. A kill is one task for one container ID (``agent/kill/kill.py``), and each step is on disk before it happens:
   intent, event, hook, stop. An agent that died in the middle goes on after the last step on disk. A hook
   that died with its agent runs again only if the pod says that it is idempotent; else an event says that it did not
   end. Each call of StopContainer follows a ContainerStatus that says that this ID runs, in a pod that does
   not terminate.
6. The API server gets the latest state and nothing else, and no result before the journal has it. Conditions wait in
   a table by UID, events in a bounded queue.

A ContainerRecreateRequest is one more reason for a kill of law 5, for any pod of the node (``agent/recreate``).
Before the kill the agent notes on disk which instance it kills for which request, and that note, not the request's
status, decides after a crash whether the one kill of a forced request has happened. The status in the API follows as
soon as the server answers. A request reaches a pod only if namespace, name and UID are those of a pod of this node,
and the hook that runs is the one that the kubelet noted beside the container: users who may create requests write
both labels and, without the webhook, a hook too. Such a kill ends with its grace and ten seconds, because a request
has an end of its own, unlike the kill for a failed probe, which goes on until the container has ended.

The condition is a function of the definition and of the engine's status (``beside/pods/condition.py``), and facts are
a function of three views (``beside/pods/facts.py``): the runtime's, the kubelet's and what has begun. Both are pure
and tested as properties.
"""
