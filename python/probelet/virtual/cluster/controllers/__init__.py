"""The controllers of a virtual cluster: what workloads make of their pods, and what Services make of ready pods.

Each is a pure rule over the pods as they are now: ``reconcile`` says what to create and to delete. A pod that is to be
created is there at once; the API server and the scheduler take no time.
"""
