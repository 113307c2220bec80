"""Every decision that is made beside a kubelet, without I/O.

``takeover`` says which probes move to the agent, ``pods`` and ``probes`` what the agent makes of what it sees,
``guard`` which failed probe leads to a restart. The webhook, the controller, the agent and the virtual cluster use
the same code.
"""
