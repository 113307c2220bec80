"""The files of an installation beside its environment."""

from pathlib import Path

from tools.install.environment import run_python
from tools.install.layout import Layout, remove_files, write_file

DEPLOY = "deploy"
UNITS = f"{DEPLOY}/systemd"

# In the units of the repository; an installation has its own.
LAUNCHER = "/usr/local/bin/probelet"
SETTINGS = "/etc/probelet"

PROBELET = ("-I", "-m", "probelet")


def write_files(root: Path, layout: Layout) -> None:
    """Writes launcher, units, completion, man pages and what other programs read of probelet; the files of an older
    version are replaced."""
    remove_files(layout)
    launcher = f"{layout.shebang}\nfrom probelet.cli import main\n\nmain()\n"
    write_file(layout.staged(layout.launcher), launcher, mode=0o755)
    for path, unit in ((layout.unit, "probelet.service"), (layout.user_unit, "user/probelet.service")):
        text = (root / UNITS / unit).read_text()
        text = text.replace(LAUNCHER, str(layout.launcher)).replace(SETTINGS, str(layout.settings))
        write_file(layout.staged(path), text)
    for name, path in layout.watching.items():
        write_file(layout.staged(path), (root / DEPLOY / name).read_text())
    environment = layout.staged(layout.environment)
    write_file(layout.staged(layout.schema), run_python(environment, *PROBELET, "config", "schema", cwd=root))
    for shell, path in layout.completions.items():
        script = layout.staged(path)
        flags = ("--install-completion", "--shell", shell, "--output", script)
        run_python(environment, *PROBELET, *flags, cwd=root)
        script.chmod(0o644)
    run_python(environment, "-m", "tools.manual", layout.staged(layout.manual), cwd=root)
    for page in layout.staged(layout.manual).glob("probelet*.1"):
        page.chmod(0o644)
