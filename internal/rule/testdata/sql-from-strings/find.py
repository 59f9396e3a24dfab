cur.execute(f"SELECT a FROM t WHERE id = {user_id}") #~ major
cur.execute("SELECT a FROM t WHERE id = '%s'" % user_id) #~ major
cur.execute("select a from t where id = {}".format(user_id)) #~ major
cur.execute("SELECT a FROM t WHERE name LIKE '%%%s%%'" % name) #~ major
