"""Starts a program with another limit of open files, without Python code between fork and exec."""


def limited(soft: int, hard: int) -> list[str]:
    """What to put before a command line so that its program has these limits of open files."""
    return ["/bin/sh", "-c", f'ulimit -Sn {soft} && ulimit -Hn {hard} && exec "$@"', "sh"]
