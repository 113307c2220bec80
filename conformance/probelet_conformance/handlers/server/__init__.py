"""The scripted server of a handler case."""
