"""``probelet retry``."""

from probelet.cli.exit import Exit
from probelet.cli.options import ContainerArgument, Output, PodArgument, StateDir
from probelet.cli.verb import verb

app = verb(
    "retry",
    "Starts containers that wait for their restart delay or for the restart\n"
    "budget. The start does not lengthen the delay. Exits with 1 if no container\n"
    "waits.",
    "probelet retry web",
    "probelet retry shop/web app -o json",
)


@app.default
def retry(
    pod: PodArgument, container: ContainerArgument = None, *, output: Output = "table", state_dir: StateDir = None
) -> int:
    from probelet.cli.ask.client import command

    done = command("retry", pod, container, state_dir, output, done_word="started")
    return Exit.GOOD if done else Exit.FAILED
