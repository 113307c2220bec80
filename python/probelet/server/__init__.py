"""The interfaces of a running service: the HTTP pages, and the control socket with its client.

This file imports nothing, so that a verb that only asks the service does not load an HTTP server.
"""
