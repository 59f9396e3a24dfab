cur.execute("SELECT a FROM %s WHERE name = %%s" % table, (name,))
cur.execute("SELECT name FROM t WHERE enabled='%s'" % (int(enabled),))
cur.execute("SELECT a FROM t WHERE id = %s", (user_id,))
label = f"select an entry from the list = {user_id}"
