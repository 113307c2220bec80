"""The base of every error that probelet raises on purpose, so that a caller can catch all of them in one place."""


class ProbeletError(Exception):
    """Base of probelet's own exceptions; the text is one line per mistake."""
