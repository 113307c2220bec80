"""Which pods there are: the API server says so, and the files of pods as first seen while it is away."""
