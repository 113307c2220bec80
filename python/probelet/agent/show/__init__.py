"""The status document, the metrics and the commands for people."""
