"""The programs that ``run`` starts on this machine, and as whom; the lines before a start that say so."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from probelet.cli.exit import CliError

if TYPE_CHECKING:
    from probelet.node.source.stand_ins import StandIns
    from probelet.runtime.embedded.child.user import User
    from probelet.spec.model.pod import Pod
    from probelet.spec.read.load import Manifest

PROGRAMS_SHOWN_MAX: Final = 8
"""Programs that the line about a start as root names."""

UserName = Annotated[
    str | None,
    Parameter(
        name="--user",
        metavar="NAME|UID",
        help="As root: the user of this machine as which the programs of the manifests run. Default: probelet's own.",
    ),
]


def read_user(text: str | None, *, on_host: bool) -> "User | None":
    """The user of ``--user``; None without the flag. Raises CliError for one as which no program can be started."""
    import os

    from probelet.runtime.embedded.child.user import UserError, find_user, user_of

    if text is None:
        return None
    if not on_host:
        raise CliError("--user: only for --runtime process; a CRI runtime goes by runAsUser in the manifests")
    try:
        user = find_user(text)
    except UserError as error:
        raise CliError(f"--user: {error}") from error
    if os.geteuid() not in (0, user.uid):
        raise CliError(f"--user {text}: only root starts programs as another user; this is {user_of(os.geteuid())}")
    return user


@dataclass(frozen=True)
class Programs:
    """``stand_ins`` play containers, ``user`` runs the others; None: nobody, and the user who started ``run``."""

    stand_ins: "StandIns | None"
    user: "User | None"

    def change(self, pod: "Pod", workload: str) -> "Pod":
        """The pod as this machine runs it; for ``Rules.change``."""
        from probelet.node.source.run_as import run_as

        # In this order: a stand-in is a program of probelet's own and runs as probelet does.
        if self.user is not None:
            pod = run_as(pod, self.user.uid)
        return pod if self.stand_ins is None else self.stand_ins.play(pod, workload)

    def announce(self, first: "Sequence[Manifest]", *, on_host: bool) -> None:
        """Says before anything is started which containers are played, and which programs run as root or as
        ``--user``."""
        import os

        import structlog

        from probelet.base.printable import printable
        from probelet.base.words import listed
        from probelet.node.source.programs import programs

        log = structlog.get_logger("probelet.run")
        if self.stand_ins is not None:
            self.stand_ins.announce()
        if not on_host or (self.user is None and os.geteuid() != 0):
            return
        played = () if self.stand_ins is None else self.stand_ins.played
        found = programs((manifest.pod for manifest in first), played)
        if not found:
            return
        shown = printable(listed(found, PROGRAMS_SHOWN_MAX))
        if self.user is not None:
            log.info(f"programs of the manifests run as {self.user}", programs=shown)
        else:
            log.warning(
                "programs of the manifests run as root on this machine; --user NAME runs them as that user, "
                "and with --stand-in no program of an image runs",
                programs=shown,
            )
