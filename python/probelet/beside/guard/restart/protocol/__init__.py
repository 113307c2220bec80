"""The inputs and outputs of the restart decision."""
