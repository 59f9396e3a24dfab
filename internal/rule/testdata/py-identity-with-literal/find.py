if kind is "debit": #~ major
    a()
while n is not 0: #~ major
    b()
