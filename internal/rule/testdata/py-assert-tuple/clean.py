assert total > 0, "total must be positive"
assert (total > 0), "total must be positive"
assert (a, b) == (1, "x")
