"""The tools that every part needs and none owns: files that nobody can tamper with, logs of containers on disk, the
text of metric pages, printable text, the garbage collector and the limit of open files. It knows no pod and no
probe."""
