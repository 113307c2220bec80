"""The API server's rules for a pod template beyond the rules of a pod (apps/validation, batch/validation, 1.36).

The paths are those of the pod. Mistakes of selectors and of the workload's other fields stay unchecked: no field of
them changes a pod.
"""

from probelet.spec.model.pod import Pod
from probelet.spec.rules.validate import POD_RESTART_POLICIES
from probelet.spec.rules.validate_probe import unsupported_value
from probelet.spec.text.golang import go_quote
from probelet.spec.text.problem import FieldError

_POLICY = "spec.restartPolicy"


def runs_for_ever(pod: Pod, kind: str) -> list[FieldError]:
    """The rules of a workload that keeps its pods running; ``kind`` is the one that the API server names."""
    policy, errors = pod.spec.restart_policy, []
    # A policy that no pod may have is a mistake of the pod.
    if policy != "Always" and policy in POD_RESTART_POLICIES:
        errors.append(unsupported_value(_POLICY, policy, ("Always",)))
    if pod.spec.active_deadline_seconds is not None:
        detail = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.append(FieldError("spec.activeDeadlineSeconds", "Forbidden", detail=detail))
    return errors


def runs_to_its_end(pod: Pod, *, has_failure_policy: bool) -> list[FieldError]:
    """The rules of a Job; ``has_failure_policy``: ``podFailurePolicy`` is set."""
    policy = pod.spec.restart_policy
    if policy == "Always":
        # The default of a pod too: the server cannot tell them apart.
        return [FieldError(_POLICY, "Required value", detail='valid values: "OnFailure", "Never"')]
    if has_failure_policy and policy == "OnFailure":
        detail = f"only {go_quote('Never')} is supported when podFailurePolicy is specified"
        return [FieldError(_POLICY, "Invalid value", policy, detail)]
    return []
