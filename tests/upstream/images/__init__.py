"""The images that upstream's tests name, put together here: agnhost, busybox, nginx and pause."""
