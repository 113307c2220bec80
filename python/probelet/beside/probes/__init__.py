"""Pure rules of enhanced liveness on a node. Time is an argument: Unix milliseconds, or nanoseconds of a clock."""
