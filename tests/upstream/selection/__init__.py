"""Which tests of upstream are played: regular expressions of their names, in a file for each part of upstream."""
