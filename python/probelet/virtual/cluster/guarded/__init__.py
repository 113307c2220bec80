"""Enhanced liveness in a virtual cluster: a failed liveness probe restarts nothing, ``probelet.beside.guard`` decides.

Law: nothing here decides. ``guard.restart.guard.Guard`` is the machine of the live controller (``restarts``). Nodes
publish by the schedule of the live agent, ``beside.probes.publishing`` (``publishing``). Requests are managed and
carried out by ``guard.recreate`` (``requests``), and a container is killed by the policy's strand (``kill``): preStop
hook, the rest of the grace, then the kubelet starts the container again. ``requests`` knows no world, so the tests of
the restart decision play it over pods of their own.
"""
