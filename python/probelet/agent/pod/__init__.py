"""One pod: what has begun, its facts, its condition, its victims, and the object that puts these together."""
