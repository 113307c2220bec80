"""What the command of an exec probe does, as far as its words say it: shells, clients of HTTP and gRPC."""
