if kind is None or kind is DEBIT:
    a()  # if kind is "debit"
text = "if this is 0"
