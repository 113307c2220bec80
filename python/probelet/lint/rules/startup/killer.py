"""The probe that decides how long a start may take."""

from probelet.lint.world.container import LintContainer
from probelet.lint.world.probe import LintProbe


def killer(container: LintContainer) -> LintProbe | None:
    """The startup probe, else liveness; None if no probe kills the container."""
    return container.startup or container.liveness
