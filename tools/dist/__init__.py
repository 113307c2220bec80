"""``make dist``: the files of a release, wheel and sdist with what each of them is made of."""
