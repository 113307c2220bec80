"""The two sides: how each agent is started, and its status, events and metrics in the same words."""
