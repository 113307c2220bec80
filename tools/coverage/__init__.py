"""Which lines of Rust and Python the tests without real processes run."""
