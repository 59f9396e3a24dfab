try:
    a()
except Exception: #~ minor
    pass
for x in xs:
    try:
        a(x)
    except: #~ minor
        continue
