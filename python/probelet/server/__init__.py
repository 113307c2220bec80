"""What others see of a running service: the HTTP pages, and the control socket with its client.

Nothing is imported here, so that a verb which only asks the service something does not pay for an HTTP server.
"""
