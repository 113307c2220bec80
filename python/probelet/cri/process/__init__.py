"""The embedded runtime: a CRI v1 runtime whose containers are plain processes of this machine.

It runs in processes of its own, so that its interpreter lock is not the prober's and nothing outlives the owner:

    owner (probelet run) --- socket pair ---> guard --- pipe ---> runtime (gRPC) ---> containers, exec runs

* Owner gone, even by SIGKILL: guard and runtime see the end of the socket pair; every process is killed.
* Runtime gone: its children fall to the guard, a subreaper, which kills them.
* Guard gone: the runtime sees the end of the pipe and does the guard's work.

Every process below the runtime counts, however often it forked or called setsid: a subreaper cannot be escaped.
Not covered: processes that something else started on a container's behalf (cron, systemd-run, docker), and guard
and runtime killed in the same instant; the next runtime on the same root kills what that left behind.

What a container is not given here: images, mounts, resource limits, users, namespaces. It sees the machine.
"""
