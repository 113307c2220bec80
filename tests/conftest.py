"""The same for every test run: signals as on a desk, and the same examples, so that a change and not a dice roll turns
it red."""

import signal

from hypothesis import settings

# What a shell starts in the background ignores these, and so would every program that a test starts.
for number in (signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

# An example may take as long as a busy machine needs: no test judges time.
settings.register_profile("same", derandomize=True, deadline=None)
# `make fuzz` asks for this one and gives a seed.
settings.register_profile("fresh", deadline=None, max_examples=2_000)
settings.load_profile("same")
