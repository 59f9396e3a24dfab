import os
X = 1
class A(B):
    r"""runs it, or another"""
    y = 2
    @property
    def m(self, a):
        """d"""
        pass
    async def n(self): pass
@dec
def f(): pass
if x:
    def g(): pass
