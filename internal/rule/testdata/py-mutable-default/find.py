def f(a, seen=[]): #~ minor
    pass

def g(
    a,
    cache: dict = {}, #~ minor
):
    pass
