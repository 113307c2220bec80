"""``probelet reset``."""

from probelet.cli.exit import Exit
from probelet.cli.options import ContainerArgument, Output, PodArgument, StateDir
from probelet.cli.verb import verb

app = verb(
    "reset",
    "Resets the restart delay, as ten minutes without a crash would: waiting\n"
    "containers start now, and the next crash counts as the first. The restart\n"
    "count stays. Exits with 1 if no container had a delay.",
    "probelet reset web",
    "probelet reset shop/web app -o json",
)


@app.default
def reset(
    pod: PodArgument, container: ContainerArgument = None, *, output: Output = "table", state_dir: StateDir = None
) -> int:
    from probelet.cli.ask.client import command

    done = command("reset", pod, container, state_dir, output, done_word="reset")
    return Exit.GOOD if done else Exit.FAILED
