"""A manifest's mistake costs its object, and one snapshot holds all mistakes.

``spec/read/objects`` reads the objects of a text, and knows for each problem the object that has it (``ObjectName``).
A workload becomes pods there: everything behind it knows pods only. The whole object is valid or refused, so a
workload never has half of its pods. ``node/source/files`` keeps, per file, the pods in force, the mistakes of the
newest version, and the pods that stay because of them, matched by the object and not by the pod's name, because a
scaled workload has other names. After each look it publishes one immutable ``Mistakes`` (``node/source/mistakes``),
which the status document, the page and the metrics read. Its texts are cut and printable, because they outlive their
file.
"""
