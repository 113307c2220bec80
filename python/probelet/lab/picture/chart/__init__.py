"""Charts of several plays beside each other."""
