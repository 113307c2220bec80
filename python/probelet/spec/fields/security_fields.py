"""The fields of security contexts (core/v1 PodSecurityContext and SecurityContext, 1.36).

The embedded runtime confines nothing. On a CRI runtime ``rules.security.denied_fields`` refuses a field whose absence
would leave a container less confined than it asks for.
"""

from typing import Final

from probelet.spec.fields.pod_fields import NO_VOLUMES, PROCESS
from probelet.spec.fields.support import Row, Support, ignored, works

_USER: Final = ignored(f"{PROCESS} and runs as the user who started probelet")
_VOLUMES: Final = ignored(NO_VOLUMES)
_LINUX: Final = ignored("this node runs linux")


def _rows(owner: str, **support: Support) -> tuple[Row, ...]:
    return tuple(Row(f"{owner}.securityContext.{name}", _USER, each) for name, each in support.items())


SECURITY_ROWS: Final = (
    *_rows(
        "spec",
        appArmorProfile=works("refused if AppArmor is not enabled on this machine, unless it is `Unconfined`"),
        fsGroup=works("one more group"),
        fsGroupChangePolicy=_VOLUMES,
        runAsGroup=works(""),
        runAsNonRoot=works(""),
        runAsUser=works(""),
        seLinuxChangePolicy=_VOLUMES,
        seLinuxOptions=works(""),
        seccompProfile=works(""),
        supplementalGroups=works(""),
        supplementalGroupsPolicy=works("`Strict` if the runtime can"),
        sysctls=works("the 12 safe ones; any other is refused"),
        windowsOptions=_LINUX,
    ),
    *_rows(
        "container",
        allowPrivilegeEscalation=works(""),
        appArmorProfile=works("refused if AppArmor is not enabled on this machine, unless it is `Unconfined`"),
        capabilities=works(""),
        privileged=works(""),
        procMount=works("`Unmasked` is refused: it needs `hostUsers: false`"),
        readOnlyRootFilesystem=works(""),
        runAsGroup=works(""),
        runAsNonRoot=works(""),
        runAsUser=works(""),
        seLinuxOptions=works(""),
        seccompProfile=works(""),
        windowsOptions=_LINUX,
    ),
)
