"""The configuration's opt-ins for exec probes, the same for ``run`` and ``serve --runtime``."""

from probelet.config.opt_in import ProbeletConfiguration
from probelet.execs.limits import ExecLimits
from probelet.spec.text.duration import SECOND


def exec_limits(opted: ProbeletConfiguration) -> ExecLimits:
    """The limits of exec attempts on a runtime."""
    deadline = opted.exec_client_deadline
    return ExecLimits(
        single_flight=opted.exec_single_flight,
        max_in_flight=opted.exec_max_in_flight,
        client_deadline=None if deadline is None else deadline / SECOND,
        starved_share=opted.starved_share,
    )
