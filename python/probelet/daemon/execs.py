"""The opt-ins for exec probes: limits for ``run`` and ``serve --runtime``, and the helper of ``run``."""

import os

from probelet._rust import Engine
from probelet.config.opt_in import ProbeletConfiguration
from probelet.errors import DaemonError
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.execs.direct.direct_execs import DirectExecs
from probelet.runtime.execs.direct.program import PROGRAM, helper_program
from probelet.runtime.execs.limits import ExecLimits
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


async def direct_execs(opted: ProbeletConfiguration, client: RuntimeClient, *, is_embedded: bool) -> DirectExecs | None:
    """Starts the helper if the configuration asks for it (``execMode: direct``).

    Raises DaemonError for a configuration that can never take effect: on the embedded runtime, without root, without
    the program. A helper that cannot confine anything where it runs is no error: attempts go over the runtime then.
    """
    if opted.exec_mode == "cri":
        return None
    if is_embedded:
        raise DaemonError("execMode direct: needs a CRI runtime (--runtime unix:///...): the embedded one has none")
    if os.geteuid() != 0:
        raise DaemonError("execMode direct: needs root, because only root may enter containers")
    program = helper_program()
    if program is None:
        raise DaemonError(f"execMode direct: the program {PROGRAM} is missing; 'make build' or 'make install' makes it")
    execs = DirectExecs(client, program)
    await execs.start()
    return execs


def share_helper(direct: DirectExecs | None, engine: Engine, limits: ExecLimits) -> None:
    """Gives the helper to the engine, which asks before each attempt if a limit is set that Python has to keep."""
    if direct is not None:
        direct.share(engine, alone=limits.let_the_engine_enter)
