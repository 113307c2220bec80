"""``probelet reset``."""

from probelet.cli.exit import Exit
from probelet.cli.options import ContainerArgument, Output, PodArgument, StateDir
from probelet.cli.verb import verb

app = verb(
    "reset",
    "Forget the restart delay of containers, as ten minutes without a crash do: those\n"
    "that wait start now, and the next crash is the first again. The restart count\n"
    "stays. Exits with 1 when none of them had a delay.",
    "probelet reset web",
    "probelet reset shop/web app -o json",
)


@app.default
def reset(
    pod: PodArgument, container: ContainerArgument = None, *, output: Output = "table", state_dir: StateDir = None
) -> int:
    from probelet.cli.ask.client import command

    done = command("reset", pod, container, state_dir, output, said="reset")
    return Exit.GOOD if done else Exit.FAILED
