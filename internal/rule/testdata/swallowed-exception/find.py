try:
    a()
except Exception: #~ minor
    pass
for x in xs:
    try:
        a(x)
    except: #~ minor
        continue
try:
    connection.send(x)
    connection.close()
except: #~ minor
    pass


def close_account(a):
    try:
        a.settle()
    except Exception: #~ minor
        pass
