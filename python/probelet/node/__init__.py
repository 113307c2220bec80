"""The node service: static pods run on a CRI runtime, probed by the engine, killed and restarted by policy.

``policy`` decides what to do with a pod, the engine decides when to probe, and the runtime says what runs. This package
carries facts and decisions between them on one event loop, and decides nothing itself:

    engine --fd--> changes --> pod (policy) --effects--> runtime --> pleg --facts--> pod --> engine
"""
