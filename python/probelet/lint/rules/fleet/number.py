"""Numbers in fields that the model passes on unread."""


def number(value: object, default: int) -> int:
    """A whole number as written; the default for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else default
