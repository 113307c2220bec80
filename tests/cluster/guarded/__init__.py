"""Enhanced liveness from the pod's creation to the request's end, on a real kubelet with real budgets.

Law: a test counts what the API server's objects and the runtime say, never what the controller says of itself.
"""
