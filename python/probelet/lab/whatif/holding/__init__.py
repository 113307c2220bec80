"""Which liveness kills of a recording would have waited: ``subjects`` is what is known of its pods, ``play`` gives what
was recorded to the detector of incidents and asks ``policy.incidents.hold`` about each kill, ``held`` has the outcome.
"""
