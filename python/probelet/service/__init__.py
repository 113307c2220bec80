"""The drop-in prober service: probelet's prober for a node agent that keeps pods and statuses itself.

Its interface is ``proto/probelet/v1/prober.proto``.
"""
