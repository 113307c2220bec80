"""The admission webhook: AdmissionReview (admission.k8s.io/v1) over TLS.

A handler of pods is a pure function of a request; that of ContainerRecreateRequests reads the pod and its node first.
Each answers a dry run as it answers any other call, and has no side effects.
The server refuses nothing by itself. Where it cannot answer, it says so with an HTTP status, and the API server does
what the webhook's ``failurePolicy`` says.

The webhook refuses nothing, so that the API server refuses
-----------------------------------------------------------
The API server validates a pod after its webhooks, so a mistake in a probe that moved would never be found. A refusal
by the webhook would have two faults: it would come wrapped in words of a webhook, without the pod's other mistakes,
and where a later release allows more than this one knows, it would refuse a good pod. So a pod with a mistake in a
probe keeps all its probes, and the API server answers as it does without the label, byte for byte
(``tests/system/admission/test_takeover.py``). Rules that protect something are in a ValidatingAdmissionPolicy: a
webhook that may be away protects nothing.
"""
