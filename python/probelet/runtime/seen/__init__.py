"""The reports of the runtime about pods, kept and translated: the cache, the PLEG that keeps it equal to it, the
labels, and the hooks that containers run.

The runtime is the memory of what runs
--------------------------------------
Restart counts and definitions are annotations of the containers, and ownership is in their labels. Nothing else keeps
them. So the next probelet adopts containers by listing the runtime, whether the last one was stopped or killed, and a
test of that needs no file of ours. The state that only a prober has (counters, holds) does not belong in the runtime.
"""
