"""The drop-in prober service: probelet's prober for a node agent that keeps pods and statuses itself.

Its interface is ``proto/probelet/v1/prober.proto``.

Pods that are handed over share a node's engine
-----------------------------------------------
Two engines in a process would need two threads, and metric pages that add up. With one engine, pod ownership decides
which subscriber gets an update: the status layer ignores pods with a supplied status, and the service takes its part
of each batch before the node does. The service recognises its results by the container IDs that callers already know,
because the last results of a pod come after the pod has gone.
"""
