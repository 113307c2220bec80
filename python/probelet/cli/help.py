"""``probelet help``."""

from typing import Annotated

from cyclopts import Parameter

from probelet.cli.verb import verb
from probelet.cli.verbs import installed

app = verb("help", "", "probelet help", "probelet help run", "probelet help probe http")


@app.default
def help_of(
    name: Annotated[
        str | None,
        Parameter(
            name="VERB",
            help="Default: list the verbs.",
            choices=[verb.name for verb in installed()],
            show_choices=False,
        ),
    ] = None,
    /,
    *words: Annotated[str, Parameter(name="WORD", help="The verb's handler, question or command, if it has several.")],
) -> int:
    from probelet.cli.app import run_command

    return run_command([*([name] if name else []), *words, "--help"])
