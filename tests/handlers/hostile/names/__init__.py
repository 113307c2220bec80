"""A hostile name server, and what the tests ask it for."""
