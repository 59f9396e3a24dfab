def f(a, seen=None, size=()):
    call(seen=[])
    # def g(seen=[]):

values = dict(
    a={},
)
