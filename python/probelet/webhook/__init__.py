"""The admission webhook: AdmissionReview (admission.k8s.io/v1) over TLS.

A handler of pods is a pure function of a request; that of ContainerRecreateRequests reads the pod and its node first.
Each answers a dry run as it answers any other call, and has no side effects.
The server refuses nothing by itself. Where it cannot answer, it says so with an HTTP status, and the API server does
what the webhook's ``failurePolicy`` says.
"""
