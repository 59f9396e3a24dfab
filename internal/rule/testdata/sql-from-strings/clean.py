cur.execute("SELECT a FROM t WHERE id = %s", (user_id,))
label = f"select an entry from the list = {user_id}"
