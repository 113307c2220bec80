"""Child processes: starts, reads, reaps and kills the processes of containers and exec runs."""
