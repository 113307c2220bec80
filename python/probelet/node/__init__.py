"""The node service: static pods run on a CRI runtime, probed by the engine, killed and restarted by policy.

This is a composition root: it owns the event loop's side of everything and decides nothing itself. What is to be done
comes from ``policy``, when and how to probe from the engine, and what runs from the runtime:

    engine --fd--> changes --> pod (policy) --effects--> runtime --> pleg --facts--> pod --> engine
"""
