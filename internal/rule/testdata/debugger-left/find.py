def f():
    breakpoint() #~ minor
    pdb.set_trace() #~ minor
    import pdb; pdb.set_trace() #~ minor
