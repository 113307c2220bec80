"""Pure functions: what the agent knows goes in, what follows from it comes out. No I/O, no clock, no engine."""
