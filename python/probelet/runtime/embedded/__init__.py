"""The embedded runtime: a CRI v1 runtime whose containers are plain processes of this machine.

It runs in two processes of its own: its interpreter lock is not the prober's, and no container outlives the owner.

    owner (probelet run) --- socket pair ---> guard --- pipe ---> runtime (gRPC) ---> containers, exec runs

* The owner ends, even by SIGKILL: guard and runtime notice the end of the socket pair and kill every process.
* The runtime ends: its children become children of the guard, a subreaper, which kills them.
* The guard ends: the runtime notices the end of the pipe and does the guard's work.

This covers every process below the runtime, however often it forked or called setsid: no process escapes a subreaper.
It does not cover processes that another program started for a container (cron, systemd-run, docker). If guard and
runtime are killed in the same instant, the next runtime on the same root kills the processes that remain.

Containers get no images, mounts, resource limits or users of their own. They see the machine. With ``--isolate
namespace`` each pod has a network namespace.
"""
