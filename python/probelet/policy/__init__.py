"""What a result leads to: which containers to kill, with which grace, and which to start again.

Sans-IO: ``PodMachine.handle(now, input, probes) -> actions``. Nothing here talks to a runtime, a socket or a clock; the
functions mirror the kubelet's kuberuntime and pod workers (1.36), each citing where.
"""
