try:
    a()
except Exception: #~ major
    pass
for x in xs:
    try:
        a(x)
    except: #~ major
        continue
