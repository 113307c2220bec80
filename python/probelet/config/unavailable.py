"""What has its place in the configuration but does not exist yet: refused when it is set, so that nothing lies.

Both tables shrink as features come.
"""

DETAIL = "not available in this version of probelet"

# Fields of KubeletConfiguration and ProbeletConfiguration, by their name in the file.
UNAVAILABLE_FIELDS = frozenset(
    {
        "startedCarriedBy",
    }
)

# Gates that may not differ from their default.
UNAVAILABLE_GATES = frozenset(
    {
        "ChangeContainerStatusOnKubeletRestart",
        "ExecProbeTimeout",
    }
)
