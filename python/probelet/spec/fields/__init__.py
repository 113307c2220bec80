"""The support of each field of a pod: one table, for the embedded runtime and for CRI runtimes.

Law: every field of the model has a verdict, its own or that of a field around it, on both runtimes. ``docs/pods.md``
shows the table, the summary at a start is made from it, and tests compare both with what the reader does.
"""
