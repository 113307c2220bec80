"""Directories, files and sockets on a machine with other users: no link or rename by another user leads elsewhere."""
