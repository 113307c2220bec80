"""``probelet --install-completion``: the completion script of a shell, generated from the verbs and their options.

It writes one file of its own and edits no file of the user's, such as ``~/.bashrc``.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from probelet.cli.exit import CliError, Exit
from probelet.cli.options import NamedPath
from probelet.cli.terminal import print_lines
from probelet.cli.verb import verb

Shell = Literal["bash", "zsh", "fish"]

FLAG = "--install-completion"

HEAD_LINES = 3
"""The lines at the beginning of a script that are the same in each version of probelet."""

app = verb(
    FLAG,
    "Writes one file, at the place where the shell looks for completions of this\n"
    "user, and changes no other file. It replaces an older script of probelet; it\n"
    "refuses to replace another file.",
    "probelet --install-completion",
    "probelet --install-completion --shell zsh",
    "probelet --install-completion --shell fish --output probelet.fish",
)


@app.default
def install_completion(
    *,
    shell: Annotated[Shell | None, Parameter(help="Default: the shell that runs probelet, or $SHELL.")] = None,
    output: Annotated[
        NamedPath | None,
        Parameter(name=["--output", "-o"], metavar="FILE", help="Default: the shell's place for this user."),
    ] = None,
) -> int:
    from probelet.cli.app import build_app

    shell = shell or _shell_of_the_user()
    path = output or _place(shell)
    script = build_app().generate_completion(prog_name="probelet", shell=shell)
    try:
        _write(path, script)
    except OSError as error:
        raise CliError(f"{error.filename or path}: {error.strerror}", code=Exit.CANNOT) from error
    print_lines(f"{shell} completion: {path}")
    if output is None:
        print_lines(*_next_steps(shell, path))
    return Exit.GOOD


def _shell_of_the_user() -> Shell:
    from cyclopts.completion import detect_shell
    from cyclopts.completion.detect import ShellDetectionError

    with suppress(ShellDetectionError):
        found = detect_shell()
        if found != "powershell":
            return found
    raise CliError("cannot tell which shell this is", hint=f"probelet {FLAG} --shell bash   (or zsh, fish)")


def _place(shell: Shell) -> Path:
    """The file in which the shell, or bash-completion, looks for completions of the user's own."""
    home = Path.home()
    if shell == "bash":
        data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share")
        return data / "bash-completion/completions/probelet"
    if shell == "fish":
        configuration = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        return configuration / "fish/completions/probelet.fish"
    # zsh loads a function from a file of the function's name.
    return home / ".zsh/completions/_cyclopts_probelet"


def _write(path: Path, script: str) -> None:
    """Writes the script. Raises CliError if the file is not a completion script of probelet, and OSError."""
    if path.exists() and _head(path.read_text(encoding="utf-8", errors="replace")) != _head(script):
        raise CliError(
            f"{path}: exists, and is not a completion script of probelet; it stays as it is",
            code=Exit.CANNOT,
            hint=f"probelet {FLAG} --output FILE",
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script, encoding="utf-8")


def _head(script: str) -> list[str]:
    return script.splitlines()[:HEAD_LINES]


def _next_steps(shell: Shell, path: Path) -> tuple[str, ...]:
    if shell == "bash":
        return (
            "It works in new shells with the package bash-completion. Without that package, add to ~/.bashrc:",
            f"  . {path}",
        )
    if shell == "zsh":
        return (
            "It works in new shells if ~/.zshrc has these lines, in this order:",
            f"  fpath=({path.parent} $fpath)",
            "  autoload -Uz compinit && compinit",
        )
    return ("It works in new shells.",)
