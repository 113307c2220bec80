"""``python -m tools.install {install,uninstall}``, as the Makefile calls it. Exit code 2 and one line for a mistake."""

import argparse
import os
import shutil
import sys
from pathlib import Path

from tools.install.layout import InstallError, Layout, is_environment, remove_files
from tools.install.settings import remove_settings, write_settings

ROOT = Path(__file__).parents[2]


# ProtectHome of the unit hides these folders, and with them a Python that one user has built for himself.
HOMES = ("/home", "/root", "/run/user")


def install(layout: Layout, python: str) -> None:
    # These need the developers' environment, and `make uninstall` works without it.
    from tools.install.environment import interpreter, make_environment
    from tools.install.files import write_files

    make_environment(ROOT, layout, python)
    write_files(ROOT, layout)
    for line in write_settings(ROOT, layout):
        print(line)
    print(f"installed {layout.staged(layout.launcher)}; {layout.staged(layout.settings)} has the configuration")
    found = interpreter(layout.staged(layout.environment))
    if any(found.is_relative_to(home) for home in HOMES):
        print(f"the systemd unit may not read {found}; for it: make install PYTHON=/usr/bin/python3")
    elif layout.destination is None:
        print(f"with systemd: {enabling(layout)}")


def enabling(layout: Layout) -> str:
    """The command that starts the service: with the path of a unit that is in none of the folders of systemd."""
    if layout.prefix in (Path("/usr"), Path("/usr/local")):
        return "systemctl daemon-reload && systemctl enable --now probelet"
    return f"systemctl enable --now {layout.unit}"


def uninstall(layout: Layout) -> None:
    environment = layout.staged(layout.environment)
    if is_environment(environment):
        shutil.rmtree(environment)
    remove_files(layout)
    for line in remove_settings(ROOT, layout):
        print(line)
    print(f"removed {layout.staged(layout.launcher)} and what belonged to it")


def main() -> None:
    parser = argparse.ArgumentParser(prog="make")
    parser.add_argument("action", choices=["install", "uninstall"])
    for name in ("prefix", "sysconfdir", "destdir", "python"):
        parser.add_argument(f"--{name}", required=True)
    given = parser.parse_args()
    # What is installed is for every user, whatever the umask of the person who installs it.
    os.umask(0o022)
    try:
        destination = Path(given.destdir).absolute() if given.destdir else None
        layout = Layout(Path(given.prefix), Path(given.sysconfdir), destination)
        if given.action == "install":
            install(layout, given.python)
        else:
            uninstall(layout)
    except (InstallError, OSError) as error:
        print(f"make {given.action}: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
