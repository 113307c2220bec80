"""The Python environment of an installation: exactly the locked packages and the wheel of this checkout."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.install.layout import InstallError, Layout, is_environment
from tools.install.requirements import runtime_lock

WHEELS = "build/wheel"
PROGRAMS = ("build/probelet-enter", "build/probelet-target")


def make_environment(root: Path, layout: Layout, python: str) -> None:
    """Makes the environment of ``python`` beside its place, and puts it there when it is whole: an older one then goes.

    Nothing in the environment names the checkout or the staging folder. Raises InstallError.
    """
    place = layout.staged(layout.environment)
    if place.exists() and not is_environment(place):
        raise InstallError(f"{place}: exists, and is no environment of probelet; it stays as it is")
    new = place.with_name(".probelet.new")
    shutil.rmtree(new, ignore_errors=True)
    try:
        new.parent.mkdir(parents=True, exist_ok=True)
        if subprocess.run([python, "-m", "venv", "--symlinks", "--without-pip", str(new)]).returncode:
            raise InstallError(f"{python} could not make {new}; nothing was changed")
        _install_packages(root, new)
        _strip(new)
        _compile(new, layout.environment)
        for program in PROGRAMS:
            shutil.copy(root / program, new / "bin")
        shutil.rmtree(place, ignore_errors=True)
        new.rename(place)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def interpreter(environment: Path) -> Path:
    """The interpreter of the machine that the environment uses."""
    return (environment / "bin/python").resolve()


def run_python(environment: Path, *arguments: str | Path, cwd: Path) -> str:
    """Runs the environment's Python, which leaves no byte code in the checkout; returns what it prints. Raises
    InstallError."""
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    variables.pop("PYTHONPATH", None)
    command = [str(environment / "bin/python"), *map(str, arguments)]
    ended = subprocess.run(command, cwd=cwd, env=variables, stdout=subprocess.PIPE, text=True)
    if ended.returncode:
        raise InstallError(f"failed: {' '.join(command)}")
    return ended.stdout


def _install_packages(root: Path, environment: Path) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as lock:
        lock.write(runtime_lock(root, _version(environment)))
        lock.flush()
        _pip(environment, "--no-deps", "--require-hashes", "-r", lock.name)
    # By its name, because pip notes the path of a wheel that a command line names.
    _pip(environment, "--no-index", "--find-links", root / WHEELS, "probelet")


def _version(environment: Path) -> str:
    """The version of the environment's Python, which may be another one than that of the developers' environment."""
    command = [str(environment / "bin/python"), "-c", "import platform; print(platform.python_version())"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _pip(environment: Path, *arguments: str | Path) -> None:
    pip = [sys.executable, "-m", "pip", "--python", environment / "bin/python", "--disable-pip-version-check"]
    flags = ["--quiet", "--no-deps", "--no-compile", "--root-user-action", "ignore"]
    if subprocess.run([*map(str, (*pip, "install", *flags, *arguments))]).returncode:
        raise InstallError("pip could not install the packages; nothing was changed")


def _strip(environment: Path) -> None:
    """Removes what names the folder in which the environment was made: scripts, and venv's note of its command."""
    for script in (environment / "bin").iterdir():
        if not script.name.startswith("python"):
            script.unlink()
    for record in environment.glob("lib/python3*/site-packages/*.dist-info/RECORD"):
        kept = [line for line in record.read_text().splitlines(keepends=True) if not line.startswith("../../../bin/")]
        record.write_text("".join(kept))
    notes = environment / "pyvenv.cfg"
    lines = notes.read_text().splitlines(keepends=True)
    notes.write_text("".join(line for line in lines if not line.startswith("command")))


def _compile(environment: Path, place: Path) -> None:
    """Compiles the byte code, as root cannot be expected to write it later. Tracebacks name the final ``place``."""
    run_python(environment, "-m", "compileall", "-q", "-s", environment, "-p", place, "lib", cwd=environment)
