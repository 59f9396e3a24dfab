try:
    a()
except FileNotFoundError:
    pass
try:
    a()
except Exception:  # the cache is a nicety
    pass
try:
    a()
except Exception as e:
    log(e)
try:
    connection.shutdown(socket.SHUT_RDWR)
    connection.close()
except:
    pass
try:
    import ctypes
    ctypes.CDLL("libc.so.6").malloc_trim(0)
except Exception:
    pass


def uuid(item):
    try:
        a()
        b()
        c()
        return item.get("uuid")
    except Exception:
        pass
    return "unknown"


for x in xs:
    try:
        a(
            x,
        )
    except:
        continue
