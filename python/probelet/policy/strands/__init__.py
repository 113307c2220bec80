"""Parallel work in a pod runs in strands.

The kubelet kills the containers of a pod in goroutines that wait for each other, for hooks and for the grace. Here
each of them is a generator inside the pod's machine (``policy/strands/strand.py``). It yields runtime calls, a wait
for its turn, or branches of its own, and time comes in with the inputs. So tests check the order in which sidecars
end, and the grace that a hook leaves, to the nanosecond. asyncio tasks exist only while a runtime call is in flight.
"""
