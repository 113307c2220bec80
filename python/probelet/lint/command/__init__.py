"""Reads the command of an exec probe, as far as its words say what it does: shells, clients of HTTP and gRPC."""
