"""Carries enhanced liveness out on an API server: objects in, writes out, one leader.

Law: this package decides nothing about pods. Each change of an object becomes an input of a machine of ``guard``, and
each output of a machine becomes a request. The answer to the request is an input again.
"""
