try:
    a()
    b()
    c()
    d()
except Exception: #~ minor
    pass
for x in xs:
    try:
        a(x)
        for y in x:
            b(y)
            c(y)
    except: #~ minor
        continue
try:
    connection.send(x)
    connection.flush()
    connection.send(y)
    connection.close()
except: #~ minor
    pass
