"""The control socket, its commands and its client, in a state directory that one service holds."""
