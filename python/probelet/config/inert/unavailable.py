"""Fields and gates that have no effect yet: setting one is refused, so that a configuration cannot mislead.

Remove an entry once its feature exists.
"""

DETAIL = "not available in this version of probelet"

# Fields of KubeletConfiguration and ProbeletConfiguration, as spelled in the file.
UNAVAILABLE_FIELDS = frozenset(
    {
        "startedCarriedBy",
    }
)

# Gates that must keep their default.
UNAVAILABLE_GATES = frozenset(
    {
        "ChangeContainerStatusOnKubeletRestart",
        "ExecProbeTimeout",
    }
)
