"""`make test` plays the same examples every time, so that a change and not a dice roll turns it red."""

from hypothesis import settings

# An example may take as long as a busy machine needs: no test judges time.
settings.register_profile("same", derandomize=True, deadline=None)
# `make fuzz` asks for this one and gives a seed.
settings.register_profile("fresh", deadline=None, max_examples=2_000)
settings.load_profile("same")
