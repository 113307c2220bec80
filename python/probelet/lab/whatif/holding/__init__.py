"""Which liveness kills of a recording would have waited: ``subjects`` describes its pods, ``play`` gives its attempts
to the detector of incidents and asks ``policy.incidents.hold`` about each kill, ``held`` has the outcome."""
