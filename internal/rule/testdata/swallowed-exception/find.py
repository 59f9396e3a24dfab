try:
    a()
    b()
except Exception: #~ minor
    pass
for x in xs:
    try:
        y = a(x)
        b(y)
    except: #~ minor
        continue
try:
    connection.send(x)
    connection.close()
except: #~ minor
    pass


def close_account(a):
    try:
        a.settle(
            today(),
        )
        a.close()
    except Exception: #~ minor
        pass
