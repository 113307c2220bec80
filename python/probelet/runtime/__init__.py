"""Everything that looks at a container runtime.

``cri`` is the client, ``embedded`` a runtime of plain processes behind the same wire. ``execs`` carries out exec
attempts, and ``seen`` keeps what the runtime says about pods. ``host.RuntimeHost`` holds all of it for one process:
``node`` and ``agent`` use it alike, and what only a node asks of a runtime is in ``probelet.node.effects``.
"""
